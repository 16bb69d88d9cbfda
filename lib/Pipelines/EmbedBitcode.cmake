# Writes the bytes of INPUT as a C++ array to OUTPUT.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE ${OUTPUT} "#include <cstddef>
namespace wavesmith {
extern const unsigned char deviceMathBitcode[];
extern const size_t deviceMathBitcodeSize;
alignas(16) const unsigned char deviceMathBitcode[] = {${bytes}};
const size_t deviceMathBitcodeSize = sizeof(deviceMathBitcode);
} // namespace wavesmith
")
