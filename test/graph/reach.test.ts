import { createTestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { issueAuthority, pemOf } from '../support/certificates/certificates.ts'
import { adminToken, ownApi } from '../support/delegate.ts'
import { network } from '../support/network.ts'
import { withSharedPki } from '../support/shared-pki.ts'

const DAY_MS = 86_400_000

const MODEL = {
  identities: [
    ...['anna', 'ben', 'clara'].map((name) => ({
      name,
      type: 'Device' as const,
      isAdmin: false,
      roleAttributes: ['finance', 'laptops'],
    })),
    ...['dora', 'emil'].map((name) => ({
      name,
      type: 'Device' as const,
      isAdmin: false,
      roleAttributes: ['sales', 'laptops'],
    })),
    { name: 'host', type: 'Service' as const, isAdmin: false, roleAttributes: ['servers'] },
    { name: 'stray', type: 'Device' as const, isAdmin: false },
  ],
  services: [
    { name: 'payroll', roleAttributes: ['books'] },
    { name: 'ledger', roleAttributes: ['books'] },
    { name: 'wiki', roleAttributes: ['internal'] },
    { name: 'attic' },
  ],
  servicePolicies: [
    { name: 'money', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#finance'], serviceRoles: ['#books'] },
    { name: 'all-wiki', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#laptops'], serviceRoles: ['@wiki'] },
    { name: 'hosting', type: 'Bind', semantic: 'AnyOf', identityRoles: ['#servers'], serviceRoles: ['#books'] },
    { name: 'nobody', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#ghosts'], serviceRoles: ['#books'] },
  ],
  edgeRouters: [{ name: 'edge' }],
} as const

describe('GET /reach', () => {
  it('lists who reaches a service and what an identity reaches, by name and in pages, with the policies', async () => {
    const { api } = await network({ model: MODEL })
    const who = (await api.call('GET /reach', { query: { service: 'payroll', limit: '2' } })).data
    expect(who).toMatchObject({ kind: 'services', entity: { name: 'payroll' }, counts: { dial: 3, bind: 1 } })
    expect(who.reached).toMatchObject([
      { name: 'anna', types: ['Dial'], policies: [{ name: 'money', type: 'Dial', isGuarded: false }] },
      { name: 'ben' },
    ])
    const query = { service: 'payroll', cursor: who.nextCursor ?? '' }
    expect((await api.call('GET /reach', { query })).data.reached.map(({ name, types }) => [name, types])).toEqual([
      ['clara', ['Dial']],
      ['host', ['Bind']],
    ])
    const bound = (await api.call('GET /reach', { query: { service: 'payroll', type: 'Bind' } })).data
    expect(bound.reached.map(({ name }) => name)).toEqual(['host'])
    const found = (await api.call('GET /reach', { query: { service: 'payroll', text: 'LAR' } })).data
    expect(found.reached.map(({ name }) => name)).toEqual(['clara'])
    const what = (await api.call('GET /reach', { query: { identity: 'dora' } })).data
    expect([what.counts, what.reached.map(({ name, status }) => [name, status])]).toEqual([
      { dial: 1, bind: 0 },
      [['wiki', null]],
    ])
  })

  it('says what it cannot answer', async () => {
    const { api } = await network({ model: MODEL })
    await expect(api.call('GET /reach', { query: {} })).rejects.toMatchObject({ status: 400 })
    await expect(api.call('GET /reach', { query: { service: 'nothing' } })).rejects.toMatchObject({ status: 404 })
    await expect(api.call('GET /reach', { query: { service: 'wiki', cursor: 'x' } })).rejects.toMatchObject({
      status: 400,
    })
  })
})

describe('GET /findings', () => {
  it('finds who reaches nothing, what nobody reaches, what is offline and what selects nothing', async () => {
    const { api } = await network({ model: MODEL })
    const { data } = await api.call('GET /findings')
    const named = Object.fromEntries(data.map(({ finding, entities }) => [finding, entities.map(({ name }) => name)]))
    expect(named).toMatchObject({
      'edge-routers-offline': ['edge'],
      'services-without-identities': ['attic'],
      'services-without-terminators': ['attic', 'ledger', 'payroll', 'wiki'],
      'policies-without-effect': ['nobody'],
    })
    expect(named['identities-without-services']).toContain('stray')
    expect(named['identities-without-services']).not.toContain('anna')
    const query = { finding: 'services-without-terminators' as const, limit: '3' }
    const [page] = (await api.call('GET /findings', { query })).data
    const [next] = (await api.call('GET /findings', { query: { ...query, cursor: page?.nextCursor ?? '' } })).data
    expect([page?.count, page?.entities.length, next?.entities.map(({ name }) => name)]).toEqual([4, 3, ['wiki']])
  })

  it('finds certificates that end, administrators with a password alone, and policies that are over', async () => {
    const { controller: net, api } = await network({ model: MODEL })
    const named = async (finding: 'policies-over' | 'certificates-ending' | 'administrators-without-second-factor') =>
      (await api.call('GET /findings', { query: { finding } })).data[0]?.entities.map(
        ({ kind, name }) => `${kind} ${name}`,
      )
    const until = new Date(net.clock.now() + 600_000).toISOString()
    const [money] = (await net.admin.call('GET /service-policies', { query: { filter: 'name = "money"' } })).data
    await net.admin.call('PATCH /service-policies/{id}', { params: { id: money?.id ?? '' }, body: { until } })
    const certPem = pemOf(await issueAuthority({ notAfter: net.clock.now() + 30 * 86_400_000 + 600_000 }))
    const rules = { isAuthEnabled: true, isAutoCaEnrollmentEnabled: false, isOttCaEnrollmentEnabled: false }
    await net.admin.call('POST /cas', { body: { name: 'company', certPem, identityRoles: [], ...rules } })
    expect(await named('administrators-without-second-factor')).toEqual(['identities Default Admin'])
    expect([await named('policies-over'), await named('certificates-ending')]).toEqual([[], []])
    await net.elapse(1_200_000)
    expect(await named('policies-over')).toEqual(['service-policies money'])
    expect(await named('certificates-ending')).toEqual(['cas company'])
  })

  it('tells invitations that ended, and those that end within a day', async () => {
    const { controller: net, api } = await network({ model: MODEL })
    const { id: identityId } = (
      await net.admin.call('POST /identities', { body: { name: 'late', type: 'User', isAdmin: false } })
    ).data
    const expiresAt = new Date(net.clock.now() + 600_000).toISOString()
    await net.admin.call('POST /enrollments', { body: { identityId, method: 'ott', expiresAt } })
    const named = async (finding: 'invitations-ending' | 'invitations-ended') =>
      (await api.call('GET /findings', { query: { finding } })).data[0]?.entities.map(({ name }) => name)
    // A new invitation that is short by intent is no finding.
    expect([await named('invitations-ending'), await named('invitations-ended')]).toEqual([[], []])
    await net.elapse(400_000)
    expect([await named('invitations-ending'), await named('invitations-ended')]).toEqual([['late'], []])
    await net.elapse(1_200_000)
    expect([await named('invitations-ending'), await named('invitations-ended')]).toEqual([[], ['late']])
  })

  it('finds identities that were not seen for 30 days, until they are or may not log in any more', async () => {
    const { controller: net } = await network({ model: MODEL })
    const found = async () => {
      // Each time in a session of its own: time ends sessions.
      const api = ownApi(net, await adminToken(net))
      const [one] = (await api.call('GET /findings', { query: { finding: 'identities-not-seen' } })).data
      return [one?.judged, one?.entities.map(({ name, at }) => [name, at])]
    }
    const seenAt = new Date(net.clock.now()).toISOString()
    const use = (name: string) => net.as(name).call('GET /current-identity')
    for (const name of ['anna', 'ben', 'clara']) await use(name)
    expect((await found())[1]).toEqual([])
    // Clara goes on in the session that she has.
    for (let minutes = 0; minutes < 25 * 60; minutes += 25) {
      await net.elapse(25 * 60_000)
      await use('clara')
    }
    await net.elapse(29 * DAY_MS)
    expect((await found())[1]).toEqual([
      ['anna', seenAt],
      ['ben', seenAt],
    ])
    await use('anna')
    const body = { durationMinutes: 0 }
    await net.admin.call('POST /identities/{id}/disable', { params: { id: net.as('ben').id }, body })
    expect((await found())[1]).toEqual([])
    await net.admin.call('DELETE /identities/{id}', { params: { id: net.as('ben').id } })
    expect(await found()).toEqual([expect.any(Number), []])
  })

  it('finds certificates of identities and of the network itself that end, each with its instant', async () => {
    const { controller: net } = await network({ model: MODEL })
    await net.enroll('anna')
    const ends = async (finding: 'identity-certificates-ending' | 'authorities-ending') => {
      const api = ownApi(net, await adminToken(net))
      const [one] = (await api.call('GET /findings', { query: { finding } })).data
      return one?.entities.map(({ name, at }) => [name, at !== null && Date.parse(at) - net.clock.now() < 31 * DAY_MS])
    }
    expect([await ends('identity-certificates-ending'), await ends('authorities-ending')]).toEqual([[], []])
    await net.elapse(340 * DAY_MS)
    expect(await ends('identity-certificates-ending')).toEqual([['anna', true]])
    // The certificates of this network are good until 2036.
    await net.elapse(Date.UTC(2035, 11, 10) - net.clock.now())
    const ending = await ends('authorities-ending')
    expect(ending?.map(([name]) => String(name).split(' ')[0]).toSorted()).toEqual(['authority', 'root', 'server'])
  })

  it('finds policies whose identities all stayed away for 30 days, until one comes or the policy is changed', async () => {
    const { controller: net } = await network({ model: MODEL })
    const found = async () => {
      const api = ownApi(net, await adminToken(net))
      const [one] = (await api.call('GET /findings', { query: { finding: 'policies-unused' } })).data
      return [one?.judged, one?.entities.map(({ kind, name }) => `${kind} ${name}`)]
    }
    const use = (name: string) => net.as(name).call('GET /current-identity')
    await use('anna')
    await net.elapse(29 * DAY_MS)
    // Nothing is known yet of those who were there before.
    expect(await found()).toEqual([0, []])
    await net.elapse(2 * DAY_MS)
    expect(await found()).toEqual([
      3,
      ['service-policies all-wiki', 'service-policies hosting', 'service-policies money'],
    ])
    await use('dora')
    await net.elapse(60_000)
    expect(await found()).toEqual([3, ['service-policies hosting', 'service-policies money']])
    const [hosting] = (await net.admin.call('GET /service-policies', { query: { filter: 'name = "hosting"' } })).data
    await net.admin.call('PATCH /service-policies/{id}', {
      params: { id: hosting?.id ?? '' },
      body: { tags: { a: 1 } },
    })
    expect(await found()).toEqual([3, ['service-policies money']])
  })

  it('finds a backup that is old, missing or out of sight, where the host knows of backups', async () => {
    const told: { latest: () => Promise<Date | null> } = { latest: async () => null }
    const { controller: net } = await network({ latestBackup: () => told.latest() })
    const found = async () => {
      const api = ownApi(net, await adminToken(net))
      const [one] = (await api.call('GET /findings', { query: { finding: 'backups-old' } })).data
      return [one?.judged, one?.entities.map(({ name, at, detail }) => [name, at, detail])]
    }
    expect(await found()).toEqual([1, [['no backup was made yet', null, null]]])
    const made = new Date(net.clock.now())
    told.latest = async () => made
    await net.elapse(2 * DAY_MS - 1)
    expect(await found()).toEqual([1, []])
    await net.elapse(1)
    expect(await found()).toEqual([1, [['the latest backup', made.toISOString(), null]]])
    told.latest = () => Promise.reject(new Error('/backup is not mounted'))
    expect(await found()).toEqual([1, [['the latest backup', null, 'Error: /backup is not mounted']]])
  })

  it('judges nothing where there is nothing, and no identity for services that are not there', async () => {
    const { api } = await network()
    const { data } = await api.call('GET /findings')
    const judged = data.filter((one) => one.judged > 0).map(({ finding }) => finding)
    const ofTheController = ['administrators-without-second-factor', 'authorities-ending', 'clock-behind']
    expect(judged.toSorted()).toEqual([...ofTheController, 'identities-not-seen'])
    expect(data.filter((one) => one.judged === 0 && one.count > 0)).toEqual([])
  })
})

describe('GET /access-map', () => {
  it('puts everybody into one group, by the property that is asked for, and opens a group', async () => {
    const { api } = await network({ model: MODEL })
    const query = { identitiesBy: 'sales', servicesBy: 'internal' }
    const { data } = await api.call('GET /access-map', { query })
    for (const side of [data.identities, data.services]) {
      expect(side.groups.reduce((sum, { count }) => sum + count, 0)).toBe(side.count)
    }
    const titles = data.identities.groups.map(({ roleAttributes }) => roleAttributes.join())
    expect(titles).toEqual(expect.arrayContaining(['finance', 'sales', 'servers']))
    const finance = data.identities.groups[titles.indexOf('finance')]
    const books = data.services.groups.findIndex(({ roleAttributes }) => roleAttributes.includes('books'))
    expect(data.links.find(({ from, to }) => from === titles.indexOf('finance') && to === books)).toMatchObject({
      pairs: 6,
      policies: [{ name: 'money' }],
    })
    const scope = finance?.scope ?? ''
    const members = (await api.call('GET /access-map/members', { query: { kind: 'identities', scope } })).data
    expect([members.count, members.members.map(({ name }) => name)]).toEqual([3, ['anna', 'ben', 'clara']])
    expect((await api.call('GET /access-map', { query: { identities: scope } })).data.identities.count).toBe(3)
    await expect(api.call('GET /access-map', { query: { identities: 'x' } })).rejects.toMatchObject({ status: 400 })
  })

  it('divides those who have none of what tells most apart by another property, so that few are left', async () => {
    const badges = Array.from({ length: 12 }, (_, number) => `badge-${number}`)
    const people = Array.from({ length: 300 }, (_, number) => {
      const badge = number % 2 === 0 ? [badges[(number / 2) % 12] ?? ''] : []
      return {
        name: `person-${number}`,
        type: 'Device' as const,
        isAdmin: false,
        roleAttributes: [`site-${number % 5}`, ...badge],
      }
    })
    const services = badges.map((badge) => ({ name: `app-${badge}`, roleAttributes: [badge] }))
    const servicePolicies = badges.map((badge) => ({
      name: badge,
      type: 'Dial' as const,
      semantic: 'AnyOf' as const,
      identityRoles: [`#${badge}`],
      serviceRoles: [`#${badge}`],
    }))
    const net = await createTestController(
      await withSharedPki({ model: { identities: people, services, servicePolicies } }),
    )
    onTestFinished(() => net.close())
    const api = ownApi(net, await adminToken(net))
    const { count, groups } = (await api.call('GET /access-map')).data.identities
    const asked = (await api.call('GET /access-map', { query: { identitiesBy: 'badge-7' } })).data.identities
    expect(asked.groups.map(({ roleAttributes }) => roleAttributes).sort()).toEqual(
      [[], ...badges.map((badge) => [badge])].sort(),
    )
    expect(asked.properties[asked.property]).toMatchObject({ roleAttributeCount: 12, count: 150 })
    const left = groups.filter(({ isRest }) => isRest).reduce((sum, one) => sum + one.count, 0)
    expect(groups.length).toBeLessThanOrEqual(41)
    expect(left).toBeLessThan(count / 10)
    expect(groups.some(({ roleAttributes }) => roleAttributes.includes('badge-0'))).toBe(true)
    expect(groups.some(({ roleAttributes }) => roleAttributes.includes('site-0'))).toBe(true)
  })
})

describe('GET /access-map of few entities', () => {
  it('answers them by name, after a change of name too, and says which pairs may dial', async () => {
    const { controller: net, api } = await network({ model: MODEL })
    const look = async () => {
      const { identities, services, links } = (await api.call('GET /access-map')).data
      const [people, apps] = [identities, services].map(({ groups }) => groups.map(({ entity }) => entity?.name ?? ''))
      return { people, apps, pairs: links.map(({ from, to }) => `${people?.[from]} ${apps?.[to]}`).sort() }
    }
    const first = await look()
    expect(first.people).toEqual(['anna', 'ben', 'clara', 'Default Admin', 'dora', 'emil', 'host', 'stray'])
    expect(first.apps).toEqual(['attic', 'ledger', 'payroll', 'wiki'])
    const [finance, others] = [
      ['anna', 'ben', 'clara'],
      ['dora', 'emil'],
    ]
    const expected = [
      ...finance.flatMap((one) => ['ledger', 'payroll', 'wiki'].map((app) => `${one} ${app}`)),
      ...others.map((one) => `${one} wiki`),
    ]
    expect(first.pairs).toEqual(expected)
    const anna = (await net.admin.call('GET /identities', { query: { filter: 'name = "anna"' } })).data[0]?.id ?? ''
    await net.admin.call('PATCH /identities/{id}', { params: { id: anna }, body: { name: 'zoe' } })
    const renamed = await look()
    expect(renamed.people?.at(-1)).toBe('zoe')
    expect(renamed.pairs).toEqual(expected.map((pair) => pair.replace('anna', 'zoe')).sort())
  })

  it('answers the policies with the groups that they select, those that grant most first', async () => {
    const { api } = await network({ model: MODEL })
    const query = { policies: '1' }
    const { policies, policyCount, identities, services } = (await api.call('GET /access-map', { query })).data
    expect([policyCount, policies.map(({ name }) => name)]).toEqual([2, ['money']])
    const named = (side: typeof identities, of: readonly { group: number }[] = []) =>
      of.map(({ group }) => side.groups[group]?.entity?.name)
    expect(named(identities, policies[0]?.identities)).toEqual(['anna', 'ben', 'clara'])
    expect(named(services, policies[0]?.services)).toEqual(['ledger', 'payroll'])
  })

  it('has no group of several attributes that holds more than a tenth, however many there are', async () => {
    const people = Array.from({ length: 400 }, (_, number) => ({
      name: `person-${number}`,
      type: 'Device' as const,
      isAdmin: false,
      roleAttributes: [`team-${String(number % 100).padStart(2, '0')}`],
    }))
    const net = await createTestController(await withSharedPki({ model: { identities: people } }))
    onTestFinished(() => net.close())
    const api = ownApi(net, await adminToken(net))
    const { groups, count } = (await api.call('GET /access-map')).data.identities
    const mixed = groups.filter(({ roleAttributes }) => roleAttributes.length > 1)
    expect(groups.length).toBeLessThanOrEqual(41)
    expect(mixed.length).toBeGreaterThan(1)
    for (const one of mixed) expect(one.count).toBeLessThanOrEqual(count / 10)
    // Ranges by name do not overlap.
    const ranges = mixed.map(({ roleAttributes }) => roleAttributes.toSorted())
    for (const [at, range] of ranges.entries()) {
      const next = ranges[at + 1]
      if (next) expect((range.at(-1) ?? '') < (next[0] ?? '')).toBe(true)
    }
  })
})

describe('the views of a network that changes', () => {
  it('are those of a controller that sees it for the first time, whatever changed', async () => {
    const { controller: net, api } = await network({ model: MODEL })
    const look = async (from: typeof api) => {
      const map = (await from.call('GET /access-map')).data
      const finding = (await from.call('GET /findings')).data
      return {
        map: { ...map, revision: 0 },
        findings: finding.map(({ finding: kind, count, entities }) => [kind, count, entities.map(({ name }) => name)]),
      }
    }
    const named = (list: readonly { readonly id: string; readonly name: string }[], name: string) => {
      return { id: list.find((one) => one.name === name)?.id ?? '' }
    }
    const anna = named((await net.admin.call('GET /identities')).data, 'anna')
    const money = named((await net.admin.call('GET /service-policies')).data, 'money')
    const wiki = named((await net.admin.call('GET /services')).data, 'wiki')
    const changes = [
      () => net.admin.call('PATCH /identities/{id}', { params: anna, body: { roleAttributes: ['sales'] } }),
      () => net.admin.call('PATCH /identities/{id}', { params: anna, body: { tags: { floor: 'third' } } }),
      () => net.admin.call('PATCH /service-policies/{id}', { params: money, body: { identityRoles: [`@${anna.id}`] } }),
      () => net.admin.call('PATCH /services/{id}', { params: wiki, body: { roleAttributes: ['books', 'internal'] } }),
      () => net.admin.call('DELETE /service-policies/{id}', { params: money }),
      () => net.admin.call('DELETE /identities/{id}', { params: anna }),
    ]
    await look(api)
    for (const change of changes) {
      await change()
      const other = await createTestController(await withSharedPki({ storage: net.storage }))
      expect(await look(api)).toEqual(await look(ownApi(other, await adminToken(other))))
    }
  })
})
