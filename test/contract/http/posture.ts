import { describe, expect, it } from 'vitest'
import { expectDone, expectError } from './errors.ts'
import { create, type ForeignClient, read } from './foreign-client.ts'
import type { Mount } from './mount.ts'
import { POSTURE_CASES } from './posture-table.ts'
import { enrolled, type Network, network } from './scenario.ts'

const TABLE = POSTURE_CASES.map((row) => [row.name, row] as const)

/** Reports of endpoints, and what follows from them. */
export function describePosture(open: Mount): void {
  const withCheck = async (check: object): Promise<Network & { readonly checkId: string }> => {
    const world = await network(await open())
    const checkId = await create(world.admin, '/posture-checks', {
      name: 'check',
      roleAttributes: ['required'],
      ...check,
    })
    return { ...world, checkId }
  }
  const queriesOf = async ({ alice, serviceId }: Network) =>
    (await read(alice.api, `/services/${serviceId}`)).postureQueries
  const dial = ({ alice, serviceId }: Network) => alice.api.post('/sessions', { serviceId, type: 'Dial' })
  const submit = async (api: ForeignClient, ...responses: readonly object[]) => {
    const answer = await api.post('/posture-response-bulk', responses)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body.data).toEqual({ services: [] })
  }

  describe.each(TABLE)('%s', (_name, { check, failing, passing, asks }) => {
    it('is asked of the client, whose answer turns it passing', async () => {
      const world = await withCheck(check)
      const { typeId } = await read(world.admin, `/posture-checks/${world.checkId}`)
      const query = { id: world.checkId, queryType: typeId, timeout: -1, timeoutRemaining: -1, ...asks }
      const expected = (isPassing: boolean) => [
        {
          policyId: world.policyId,
          policyType: 'Dial',
          isPassing,
          postureQueries: [expect.objectContaining({ ...query, isPassing })],
        },
      ]
      expect(await queriesOf(world)).toEqual(expected(false))
      for (const report of failing) {
        await submit(world.alice.api, { id: world.checkId, ...report })
        expect(await queriesOf(world), JSON.stringify(report)).toEqual(expected(false))
        expectError(await dial(world), 'INVALID_POSTURE')
      }
      await submit(world.alice.api, ...passing.map((report) => ({ id: world.checkId, ...report })))
      expect(await queriesOf(world)).toEqual(expected(true))
      expect((await dial(world)).status).toBe(201)
      const [shown] = await queriesOf(world)
      expect(JSON.stringify(shown)).not.toMatch(/hash|signer|domains|macAddresses|versions/)
    })

    it('can be answered one response at a time', async () => {
      const world = await withCheck(check)
      for (const report of passing) {
        const { status, body } = await world.alice.api.post('/posture-response', { id: world.checkId, ...report })
        expect(status).toBe(201)
        expect(body.data).toEqual({ services: [] })
      }
      expect(await queriesOf(world)).toMatchObject([{ isPassing: true }])
    })
  })

  it('MFA is asked with its prompts and timeout, and no response passes it', async () => {
    const world = await withCheck({ typeId: 'MFA', timeoutSeconds: 600, promptOnWake: true })
    const [query] = (await queriesOf(world))[0].postureQueries
    expect(query).toMatchObject({
      queryType: 'MFA',
      isPassing: false,
      timeout: 600,
      timeoutRemaining: 0,
      promptOnWake: true,
    })
    expect(query).not.toHaveProperty('promptOnUnlock')
    const hostile: readonly unknown[] = [
      { toString: 1 },
      { toString: null, valueOf: null },
      ['OS'],
      'toString',
      '__proto__',
      'constructor',
      true,
    ]
    for (const typeId of ['MFA', 'PROCESS_MULTI', 'nonsense', 7, null, ...hostile]) {
      const { status } = await world.alice.api.post('/posture-response', { id: world.checkId, typeId })
      expect(status, JSON.stringify(typeId)).toBe(400)
      const many = await world.alice.api.post('/posture-response-bulk', [{ id: world.checkId, typeId }])
      expect(many.status, JSON.stringify(typeId)).toBe(400)
    }
    const state = { id: '0', typeId: 'ENDPOINT_STATE', woken: true, unlocked: true }
    expect(await world.alice.api.post('/posture-response', state)).toMatchObject({
      status: 201,
      body: { data: { services: [] } },
    })
    expectError(await dial(world), 'INVALID_POSTURE')
  })

  it('where no posture check exists, a service has a passing entry for each permission', async () => {
    const world = await network(await open())
    const entry = (policyId: string, policyType: string) => ({
      isPassing: true,
      policyId,
      policyType,
      postureQueries: [],
    })
    const dialling = entry('dummy dial policy: no posture checks defined', 'Dial')
    expect(await queriesOf(world)).toEqual([dialling])
    const roles = { semantic: 'AnyOf', identityRoles: ['#people'], serviceRoles: ['#apps'] }
    const binds = await create(world.admin, '/service-policies', { name: 'bind', type: 'Bind', ...roles })
    await create(world.admin, '/service-policies', { name: 'dial', type: 'Dial', ...roles })
    const binding = entry('dummy bind policy: no posture checks defined', 'Bind')
    expect(await queriesOf(world)).toEqual([binding, dialling])
    // One that nothing asks for is enough for the policies to be named.
    await create(world.admin, '/posture-checks', { name: 'c', typeId: 'DOMAIN', domains: ['x'] })
    const named = await queriesOf(world)
    expect(named).toHaveLength(2)
    expect(named).toEqual(
      expect.arrayContaining([entry(binds, 'Bind'), expect.objectContaining({ policyType: 'Dial' })]),
    )
  })

  it('policies of a type that ask for the same posture checks are shown as one, by the lowest id', async () => {
    const world = await withCheck({ typeId: 'DOMAIN', domains: ['corp'], roleAttributes: ['required', 'domain'] })
    const roles = { semantic: 'AnyOf', identityRoles: ['#people'], serviceRoles: ['#apps'] }
    const policy = (name: string, type: string, postureCheckRoles: readonly string[]) =>
      create(world.admin, '/service-policies', { name, type, postureCheckRoles, ...roles })
    const checked = [
      world.policyId,
      await policy('by the other attribute', 'Dial', ['#domain']),
      await policy('by id', 'Dial', [`@${world.checkId}`]),
    ]
    const free = [await policy('free', 'Dial', []), await policy('of what nobody is', 'Dial', ['#nobody is'])]
    const binding = [await policy('bind', 'Bind', ['#required']), await policy('bind again', 'Bind', ['#domain'])]
    const shown = async () =>
      (await queriesOf(world)).map((entry: { policyId: string; isPassing: boolean }) => [
        entry.policyId,
        entry.isPassing,
      ])
    const lowest = (ids: readonly string[]) => [...ids].sort()[0] ?? ''
    const expected = (isPassing: boolean) =>
      [
        [lowest(checked), isPassing],
        [lowest(free), true],
        [lowest(binding), isPassing],
      ].sort()
    expect((await shown()).sort()).toEqual(expected(false))
    await submit(world.alice.api, { id: world.checkId, typeId: 'DOMAIN', domain: 'corp' })
    expect((await shown()).sort()).toEqual(expected(true))
    // Who asks for less than the others stands for itself.
    expectDone(await world.admin.patch(`/service-policies/${lowest(checked)}`, { postureCheckRoles: ['#other'] }))
    const second = lowest(checked.filter((id) => id !== lowest(checked)))
    const freed = lowest([...free, lowest(checked)])
    const after = [
      [second, true],
      [freed, true],
      [lowest(binding), true],
    ].sort()
    expect((await shown()).sort()).toEqual(after)
  })

  it('one passing policy is enough, and one without checks always passes', async () => {
    const world = await withCheck({ typeId: 'DOMAIN', domains: ['corp'] })
    expectError(await dial(world), 'INVALID_POSTURE')
    const free = { name: 'free', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#people'], serviceRoles: ['#apps'] }
    const freeId = await create(world.admin, '/service-policies', free)
    expect((await dial(world)).status).toBe(201)
    expectDone(await world.admin.patch(`/service-policies/${freeId}`, { type: 'Bind' }))
    await submit(world.alice.api, { id: world.checkId, typeId: 'DOMAIN', domain: 'home' })
    expectError(await dial(world), 'INVALID_POSTURE')
  })

  it('a check that is deleted no longer stands in the way', async () => {
    const world = await withCheck({ typeId: 'DOMAIN', domains: ['corp'] })
    expectError(await dial(world), 'INVALID_POSTURE')
    expectDone(await world.admin.delete(`/posture-checks/${world.checkId}`))
    expect((await dial(world)).status).toBe(201)
  })

  it('reports are of one identity, and never pass the checks of another', async () => {
    const world = await withCheck({ typeId: 'DOMAIN', domains: ['corp'] })
    const bob = await enrolled(world.mounted, world.admin, { name: 'bob', roleAttributes: ['people'] })
    await submit(bob.api, { id: world.checkId, typeId: 'DOMAIN', domain: 'corp' })
    expectError(await dial(world), 'INVALID_POSTURE')
    expect((await bob.api.post('/sessions', { serviceId: world.serviceId, type: 'Dial' })).status).toBe(201)
  })

  it('a refusal tells which checks failed, and is recorded for the admin', async () => {
    const world = await withCheck({ typeId: 'DOMAIN', domains: ['corp'] })
    await submit(world.alice.api, { id: world.checkId, typeId: 'DOMAIN', domain: 'home' })
    expectError(await dial(world), 'INVALID_POSTURE', {
      message: `Failed to pass posture checks for service policies: [${world.policyId}]`,
      data: { [world.policyId]: [{ id: world.checkId, typeId: 'DOMAIN', isPassing: false }] },
    })
    const { data } = (await world.admin.get(`/identities/${world.alice.id}/failed-service-requests`)).body
    const failure = {
      postureCheckId: world.checkId,
      postureCheckName: 'check',
      postureCheckType: 'DOMAIN',
      actualValue: 'home',
      expectedValue: ['corp'],
    }
    expect(data).toEqual([
      {
        apiSessionId: (await read(world.alice.api, '/current-api-session')).id,
        policyFailures: [{ policyId: world.policyId, policyName: 'people dial apps', checks: [failure] }],
        serviceId: world.serviceId,
        serviceName: 'web',
        sessionType: 'Dial',
        when: new Date(world.mounted.clock.now()).toISOString(),
      },
    ])
  })

  it('of the refusals the last fifty are kept, oldest first', async () => {
    const world = await withCheck({ typeId: 'DOMAIN', domains: ['corp'] })
    for (let count = 0; count < 52; count += 1) {
      world.mounted.clock.advance(1000)
      expectError(await dial(world), 'INVALID_POSTURE')
    }
    const { data } = (await world.admin.get(`/identities/${world.alice.id}/failed-service-requests`)).body
    const times = data.map(({ when }: { when: string }) => Date.parse(when))
    expect(times).toEqual(Array.from({ length: 50 }, (_, index) => world.mounted.clock.now() - (49 - index) * 1000))
  })

  it('what was reported is shown to the admin', async () => {
    const { mounted, admin, alice } = await network(await open())
    const at = `/identities/${alice.id}/posture-data`
    const nothing = { lastUpdatedAt: null, postureCheckId: '', timedOut: false }
    const empty = {
      apiSessionPostureData: {},
      domain: { ...nothing, domain: null },
      mac: { ...nothing, addresses: null },
      os: { ...nothing, build: null, type: null, version: null },
      processes: [],
    }
    expect(await read(admin, at)).toEqual(empty)
    await submit(
      alice.api,
      { id: 'a', typeId: 'OS', type: 'Linux', version: '6.1.0', build: '42' },
      { id: 'b', typeId: 'DOMAIN', domain: 'first' },
      { id: 'c', typeId: 'DOMAIN', domain: 'Second' },
      { id: 'd', typeId: 'MAC', macAddresses: ['AA-BB'] },
      { id: 'e', typeId: 'PROCESS', path: '/a', isRunning: true, hash: 'FF:00', signerFingerprints: ['0A'] },
      { id: '0', typeId: 'ENDPOINT_STATE', unlocked: true, woken: false },
    )
    const now = new Date(mounted.clock.now()).toISOString()
    const apiSessionId = (await read(alice.api, '/current-api-session')).id
    const reported = (postureCheckId: string) => ({ lastUpdatedAt: now, postureCheckId, timedOut: false })
    expect(await read(admin, at)).toEqual({
      apiSessionPostureData: {
        [apiSessionId]: {
          endpointState: { unlockedAt: now, wokenAt: null },
          mfa: expect.objectContaining({ apiSessionId, passedAt: null, passedMfa: false }),
        },
      },
      domain: { ...reported('c'), domain: 'Second' },
      mac: { ...reported('d'), addresses: ['aabb'] },
      os: { ...reported('a'), build: '42', type: 'Linux', version: '6.1.0' },
      processes: [{ ...reported('e'), binaryHash: 'ff00', isRunning: true, signerFingerprints: ['0a'] }],
    })
  })

  it('an identity that is not there reported nothing and was refused nothing', async () => {
    const { admin } = await network(await open())
    expect(await read(admin, '/identities/unknown/failed-service-requests')).toEqual([])
    expect(await read(admin, '/identities/unknown/posture-data')).toMatchObject({
      apiSessionPostureData: {},
      processes: [],
    })
  })
}
