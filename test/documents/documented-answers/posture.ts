import { create, read } from '../../contract/http/foreign-client.ts'
import type { PostureCase } from '../../contract/http/posture-table.ts'
import { network } from '../../contract/http/scenario.ts'
import { STEP_MS, totp } from '../../support/totp.ts'
import type { Scene } from './scene.ts'

const CHECK = { name: 'check', roleAttributes: ['required'] }

/** A posture check that fails and passes, and is changed. */
export const posture =
  ({ check, failing, passing }: PostureCase): Scene =>
  async (open) => {
    const { admin, alice, serviceId } = await network(await open())
    const id = await create(admin, '/posture-checks', { ...CHECK, ...check })
    for (const reports of [failing.slice(0, 1), passing]) {
      const answers = reports.map((report) => ({ id, ...report }))
      await alice.api.post('/posture-response-bulk', answers)
      for (const answer of answers) await alice.api.post('/posture-response', answer)
      await alice.api.get(`/services/${serviceId}`)
      await alice.api.get('/services')
      await alice.api.post('/sessions', { serviceId, type: 'Dial' })
      await admin.get(`/identities/${alice.id}/failed-service-requests`)
      await admin.get(`/identities/${alice.id}/posture-data`)
    }
    await admin.get(`/posture-checks/${id}`)
    await admin.put(`/posture-checks/${id}`, { ...CHECK, ...check })
    await admin.patch(`/posture-checks/${id}`, { ...check, name: 'other' })
    await admin.get(`/services?asIdentity=${alice.id}`)
    await admin.delete(`/posture-checks/${id}`)
  }

/** MFA from its enrollment to its removal, in each API, and the posture check that asks for it. */
export const mfa: Scene = async (open) => {
  const { mounted, admin, alice, serviceId } = await network(await open())
  const prompts = { timeoutSeconds: 600, promptOnWake: true, promptOnUnlock: true, ignoreLegacyEndpoints: true }
  await create(admin, '/posture-checks', { ...CHECK, typeId: 'MFA', ...prompts })
  await alice.api.post('/sessions', { serviceId, type: 'Dial' })
  for (const api of [alice.api, alice.management]) {
    await api.post('/current-identity/mfa')
    await api.post('/current-identity/mfa')
    const { provisioningUrl } = await read(api, '/current-identity/mfa')
    const secret = new URL(provisioningUrl).searchParams.get('secret') ?? ''
    const code = () => totp(secret, mounted.clock.advance(STEP_MS))
    const header = () => ({ headers: { 'mfa-validation-code': code() } })
    await api.get('/current-identity/mfa/qr-code')
    await api.post('/current-identity/mfa/verify', { code: 'wrong' })
    await api.post('/current-identity/mfa/verify', { code: code() })
    await api.get('/current-identity/mfa')
    await api.get('/current-identity/mfa/qr-code')
    await api.send('GET', '/current-identity/mfa/recovery-codes', header())
    await api.get('/current-identity/mfa/recovery-codes')
    await api.post('/current-identity/mfa/recovery-codes', { code: code() })
    await api.post('/authenticate/mfa', { code: 'wrong' })
    await api.post('/authenticate/mfa', { code: code() })
    await alice.api.post('/posture-response', { id: '0', typeId: 'ENDPOINT_STATE', woken: true, unlocked: true })
    for (const passed of [60_000, 300_000, 600_000]) {
      await alice.api.get('/services')
      await alice.api.post('/sessions', { serviceId, type: 'Dial' })
      mounted.clock.advance(passed)
    }
    await admin.get(`/identities/${alice.id}/posture-data`)
    await admin.get(`/identities/${alice.id}/failed-service-requests`)
    await api.delete('/current-identity/mfa')
    await api.send('DELETE', '/current-identity/mfa', header())
  }
  await admin.delete(`/identities/${alice.id}/mfa`)
}
