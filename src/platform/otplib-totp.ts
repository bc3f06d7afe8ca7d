import type { Totp } from '../ports/credentials.ts'

const SECRET_BYTES = 20
const TOLERANCE_SECONDS = 60

function loadOtplib() {
  return import('otplib')
}

/** One-time passwords by otplib, which is loaded on first use. */
export const otplibTotp: Totp = {
  newSecret: async () => (await loadOtplib()).generateSecret({ length: SECRET_BYTES }),
  stepOf: async (secret, code, now) => {
    // The library throws for a malformed code.
    if (!/^\d{6}$/.test(code)) return undefined
    const epoch = Math.floor(now / 1000)
    const { verify } = await loadOtplib()
    const result = await verify({ secret, token: code, epoch, epochTolerance: TOLERANCE_SECONDS })
    return result.valid && 'timeStep' in result ? result.timeStep : undefined
  },
  provisioningUrl: async (secret, issuer, account) =>
    (await loadOtplib()).generateURI({ issuer, label: account, secret }),
}
