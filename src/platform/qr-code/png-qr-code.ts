import type { QrCode } from '../../ports/credentials/qr-code.ts'
import { writeGreyPng } from './png.ts'

/** Width and height in pixels. */
const SIZE = 256
/** Light modules around the code, without which a camera does not find it. */
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
