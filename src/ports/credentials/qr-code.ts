/** Draws text as a QR code. */
export interface QrCode {
  /** PNG of 256 by 256 pixels, error correction level M. */
  png(text: string): Promise<Uint8Array>
}
