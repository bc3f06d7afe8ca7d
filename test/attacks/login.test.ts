import { recordingLogger } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { adminOf, CLIENT, foreignClient, read } from '../contract/http/foreign-client.ts'
import { enrolled } from '../contract/http/scenario.ts'
import { completeMfa } from '../support/mfa-enrollment.ts'
import { mount } from '../support/mount.ts'
import { apisOf, login, person } from '../support/people.ts'

describe('A22: a secret', () => {
  it('is never logged, neither where it is right nor where it is wrong nor where all fails', async () => {
    const logger = recordingLogger()
    let fails = false
    const mounted = await mount({
      logger,
      authorize: () => {
        if (fails) throw new Error('the host failed')
        return true
      },
    })
    const admin = await adminOf(mounted)
    const alice = await person(mounted, admin, 'alice', { enrollment: { ott: true } })
    const { ott } = (await read(admin, `/identities/${alice.id}`)).enrollment
    const { api, token } = await apisOf(mounted, alice)
    const { secret, recoveryCodes, code } = await completeMfa(mounted, alice)
    const device = await enrolled(mounted, admin, { name: 'device' })
    await login(mounted, { ...alice, password: `${alice.password}?` })
    await foreignClient(mounted, CLIENT).post('/enroll/ott', { token: `${ott.token}`, clientCsr: 'canary-csr' })
    await api.post('/authenticate/mfa', { code: recoveryCodes[0] })
    await foreignClient(mounted, CLIENT).send('GET', '/services', {
      headers: { authorization: `Bearer ${ott.jwt}x`, 'zt-session': `${token}x` },
    })
    await api.send('POST', '/authenticate', { body: `{"password":"${alice.password}"`, headers: {} })
    fails = true
    const failed = await foreignClient(mounted, CLIENT, token).get('/current-identity')
    expect(failed.status).toBe(500)
    fails = false

    const logged = JSON.stringify(logger.entries)
    expect(logged).toContain('the host failed')
    const shown = [failed.text, logged].join('\n')
    const secrets = { password: alice.password, token, ott: ott.token, jwt: ott.jwt, secret, code: recoveryCodes[0] }
    for (const [what, value] of Object.entries(secrets)) expect(shown.includes(value), what).toBe(false)
    for (const value of [...recoveryCodes, device.certificate.key, device.api.token ?? '', admin.token ?? '', code()])
      expect(shown).not.toContain(value)
  })
})
