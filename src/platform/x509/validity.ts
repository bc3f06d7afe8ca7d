const minute = 60_000

/**
 * The span in which a new certificate is valid, in ms: from one minute before `now`, for clients whose clock is a little
 * behind, until the same instant `years` calendar years later.
 */
export const validityOf = (now: number, years: number): { notBefore: number; notAfter: number } => {
  const end = new Date(now)
  end.setUTCFullYear(end.getUTCFullYear() + years)
  return { notBefore: now - minute, notAfter: end.getTime() }
}
