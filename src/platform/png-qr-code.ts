import type { QrCode } from '../ports/credentials.ts'

/** Width and height in pixels. */
const SIZE = 256
/** Light modules around the code, which cameras need to find it. */
const QUIET_ZONE = 4

/** QR codes by the package uqr, which is loaded on first use. */
export const pngQrCode: QrCode = {
  png: async (text) => {
    const { encode } = await import('uqr')
    const { data, size } = encode(text, { ecc: 'M', border: QUIET_ZONE })
    const pixelsPerModule = Math.max(1, Math.floor(SIZE / size))
    const width = Math.max(SIZE, size)
    const margin = Math.floor((width - pixelsPerModule * size) / 2)
    const moduleAt = (pixel: number) => Math.floor((pixel - margin) / pixelsPerModule)
    return writeGreyPng(width, width, (x, y) => (data[moduleAt(y)]?.[moduleAt(x)] ? 0 : 255))
  },
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
const BIT_DEPTH = 8
const GREYSCALE = 0

/** A PNG (ISO/IEC 15948) whose pixels are shades from 0, black, to 255, white. */
async function writeGreyPng(
  width: number,
  height: number,
  shadeAt: (x: number, y: number) => number,
): Promise<Uint8Array> {
  const header = [...bigEndian(width), ...bigEndian(height), BIT_DEPTH, GREYSCALE, 0, 0, 0]
  // Every row begins with the number of its filter: 0, no filter.
  const rows = new Uint8Array(height * (width + 1))
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) rows[y * (width + 1) + 1 + x] = shadeAt(x, y)
  }
  const parts = [
    SIGNATURE,
    chunk('IHDR', Uint8Array.from(header)),
    chunk('IDAT', await deflated(rows)),
    chunk('IEND', new Uint8Array()),
  ]
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

async function deflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

function chunk(type: string, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const checked = Uint8Array.of(...new TextEncoder().encode(type), ...content)
  return Uint8Array.of(...bigEndian(content.length), ...checked, ...bigEndian(crc32(checked)))
}

function bigEndian(number: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes
}

/** The checksum of a chunk, bit by bit: a chunk of a QR code has some hundred bytes. */
function crc32(bytes: Uint8Array): number {
  let rest = 0xffffffff
  for (const byte of bytes) {
    rest ^= byte
    for (let bit = 0; bit < 8; bit += 1) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0)
  }
  return (rest ^ 0xffffffff) >>> 0
}
