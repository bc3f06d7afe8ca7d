import type { QrCode } from '../ports/qr-code.ts'

/** QR codes by the package qrcode, which is loaded on first use. */
export const pngQrCode: QrCode = {
  png: async (text) => {
    const { toBuffer } = await import('qrcode')
    return new Uint8Array(await toBuffer(text, { type: 'png', width: 256, errorCorrectionLevel: 'M' }))
  },
}
