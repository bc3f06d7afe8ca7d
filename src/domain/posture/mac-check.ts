import { includesAnyHex } from './hex.ts'
import type { MacCheck } from './posture-check.ts'
import type { PostureData } from './posture-data.ts'

/** True when the endpoint reported one of the MAC addresses, however either side separates the digits. */
export function passesMacCheck(check: MacCheck, data: PostureData): boolean {
  return data.mac !== null && includesAnyHex(data.mac.addresses, check.macAddresses)
}
