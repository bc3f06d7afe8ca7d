import { CLIENT, type ForeignClient, foreignClient } from '../../contract/http/foreign-client.ts'
import type { MountedController } from '../../contract/http/mount.ts'
import { person } from '../../support/people.ts'

/** A fresh controller and its admin. */
export interface Stage {
  readonly mounted: MountedController
  readonly admin: ForeignClient
}

/** Subject, state, trigger, next state, and how to see it from outside. */
export type Row = readonly [string, string, string, string, (stage: Stage) => Promise<unknown>]

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS

/** Lets time pass, with what the controller does by itself in it. */
export const elapse = async ({ clock }: MountedController, ms: number) => {
  clock.advance(ms)
  await new Promise((resolve) => setTimeout(resolve, 5))
}
/** An identity with a password. */
export const aliceOf = ({ mounted, admin }: Stage, change: object = {}) =>
  person(mounted, admin, 'alice', { ...change })
/** The instant that comes after the given milliseconds, as the wire has it. */
export const after = ({ mounted }: Stage, ms: number) => new Date(mounted.clock.now() + ms).toISOString()
/** The state of the caller's MFA enrollment. */
export const mfaOf = async (api: ForeignClient) => {
  const { status, body } = await api.get('/current-identity/mfa')
  return status === 404 ? 'none' : body.data.isVerified ? 'complete' : 'pending'
}
/** The status of a login by certificate. */
export const certificateLogin = async ({ mounted }: Stage, certificate: { cert: string; key: string }) =>
  (await foreignClient(mounted, CLIENT, undefined, certificate).post('/authenticate?method=cert', {})).status
