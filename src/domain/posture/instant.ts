/** The instant of an epoch time in ms, as wire shapes carry it; `null` stays `null`. */
export function instant(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}
