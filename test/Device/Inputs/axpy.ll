; result0[c, z] = a * x[c, z] + y[z] for c = 0, 1: two rows of zones, one zone a
; work-item, 64 work-items a workgroup. The workspace takes the factor a of every
; work-item, those behind the last zone too, so it has to be padded.
; No function of the device library, so it compiles for every target.
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @axpy(double %a, ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %result, ptr addrspace(1) %workspace, i64 %zones) #0 {
entry:
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %first = shl i32 %group, 6
  %zone32 = add i32 %first, %item
  %zone = zext i32 %zone32 to i64
  %workspace.at = getelementptr double, ptr addrspace(1) %workspace, i64 %zone
  store double %a, ptr addrspace(1) %workspace.at
  %inside = icmp ult i64 %zone, %zones
  br i1 %inside, label %body, label %exit

body:
  %y.at = getelementptr double, ptr addrspace(1) %y, i64 %zone
  %y.value = load double, ptr addrspace(1) %y.at
  %factor = load double, ptr addrspace(1) %workspace.at
  %x0.at = getelementptr double, ptr addrspace(1) %x, i64 %zone
  %x0 = load double, ptr addrspace(1) %x0.at
  %p0 = fmul double %factor, %x0
  %r0 = fadd double %p0, %y.value
  %result0.at = getelementptr double, ptr addrspace(1) %result, i64 %zone
  store double %r0, ptr addrspace(1) %result0.at
  %second = add i64 %zone, %zones
  %x1.at = getelementptr double, ptr addrspace(1) %x, i64 %second
  %x1 = load double, ptr addrspace(1) %x1.at
  %p1 = fmul double %factor, %x1
  %r1 = fadd double %p1, %y.value
  %result1.at = getelementptr double, ptr addrspace(1) %result, i64 %second
  store double %r1, ptr addrspace(1) %result1.at
  br label %exit

exit:
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()

attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }
