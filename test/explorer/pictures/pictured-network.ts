import type { TestController } from 'portcullis/testing'
import { serveTraffic } from '../../support/explorer.ts'

const DEPARTMENTS = ['engineering', 'finance', 'sales', 'support', 'contractors'] as const
const FIRST = ['anna', 'ben', 'clara', 'david', 'emma', 'felix', 'greta', 'hans', 'ida', 'jonas', 'klara', 'leo']
const LAST = ['schmidt', 'okafor', 'nguyen', 'kowalski']
const DEVICE = { type: 'Device', isAdmin: false } as const
const ANY = { type: 'Dial', semantic: 'AnyOf' } as const

const DEVICES = Array.from({ length: 40 }, (_, n) => ({
  ...DEVICE,
  name: `${FIRST[n % 12]}.${LAST[n % 4]}-${n % 3 ? 'laptop' : 'phone'}${n >= 12 ? `-${n}` : ''}`,
  roleAttributes: [
    DEPARTMENTS[n % 5] ?? '',
    n % 2 ? 'berlin' : 'london',
    'employees',
    ...(n % 7 === 0 ? ['on-call', 'prod-access', 'vpn-legacy'] : []),
  ],
  ...(n < 3 && { enrollment: { ott: true } }),
  ...(n % 6 === 0 && { tags: { owner: 'it-operations' } }),
}))

const SERVICES = [
  'wiki',
  'git',
  'jira',
  'payroll',
  'grafana',
  'crm',
  'database-of-the-customers-in-berlin',
  'ldap',
  'vault',
]

/** A company with something of everything: names of all lengths, policies of all forms, checks, and a config. */
const COMPANY = {
  identities: [
    ...DEVICES,
    { name: 'host', type: 'Service' as const, isAdmin: false, roleAttributes: ['hosts'] },
    { ...DEVICE, name: 'anna', roleAttributes: ['engineering', 'berlin'] },
    { ...DEVICE, name: 'bob', roleAttributes: ['sales'] },
  ],
  services: SERVICES.map((name, n) => ({
    name,
    roleAttributes: [['internal', 'eng-apps', 'confidential'][n % 3] ?? ''],
  })),
  postureChecks: [
    {
      name: 'corp-domain',
      typeId: 'DOMAIN' as const,
      domains: ['corp.example', 'branch.corp.example'],
      roleAttributes: ['managed'],
    },
    {
      name: 'modern-os',
      typeId: 'OS' as const,
      operatingSystems: [
        { type: 'Linux' as const, versions: ['>=5.15.0'] },
        { type: 'macOS' as const, versions: ['>=13.0.0'] },
      ],
      roleAttributes: ['managed'],
    },
    { name: 'second-factor', typeId: 'MFA' as const, timeoutSeconds: 3600, promptOnWake: true },
  ],
  configs: [
    {
      name: 'wiki-intercept',
      configTypeId: 'intercept.v1',
      data: { protocols: ['tcp'], addresses: ['wiki.corp.example'], portRanges: [{ low: 443, high: 443 }] },
    },
  ],
  servicePolicies: [
    { ...ANY, name: 'engineers-everything', identityRoles: ['#engineering'], serviceRoles: ['#all'] },
    {
      ...ANY,
      name: 'finance-payroll',
      identityRoles: ['#finance'],
      serviceRoles: ['@payroll'],
      postureCheckRoles: ['#managed'],
    },
    { ...ANY, name: 'employees-internal', identityRoles: ['#employees'], serviceRoles: ['#internal'] },
    {
      ...ANY,
      name: 'sales-crm-in-berlin',
      semantic: 'AllOf' as const,
      identityRoles: ['#sales', '#berlin'],
      serviceRoles: ['@crm'],
    },
    { ...ANY, name: 'hosts-all', type: 'Bind' as const, identityRoles: ['#hosts'], serviceRoles: ['#all'] },
  ],
}

type Kind = 'identities' | 'services' | 'service-policies' | 'edge-routers'

/** A test controller, with a router or without. */
export type Admin = Pick<TestController, 'admin'>

/** The id of an entity by its name; empty without one. */
export async function idOf({ admin }: Admin, kind: Kind, name: string): Promise<string> {
  const query: object = { filter: `name = ${JSON.stringify(name)}` }
  return (await admin.call(`GET /${kind}`, { query })).data[0]?.id ?? ''
}

/** Serves the company in use: with traffic, refusals, changes, routers that are not there, and an open request. */
export async function serveCompany() {
  const served = await serveTraffic(COMPANY)
  const { net } = served
  for (const name of ['anna', 'anna', 'anna.schmidt-phone']) {
    const connection = await net.as(name).dial('wiki')
    connection.on('error', () => undefined).write(Buffer.alloc(60_000))
  }
  const refused = ['payroll', 'git'].map((service) => net.as('bob').dial(service))
  await Promise.allSettled(refused)
  const { admin } = net
  for (const name of ['er-london-1', 'er-oslo-cloud-2']) {
    await admin.call('POST /edge-routers', { body: { name, roleAttributes: ['cloud'] } })
  }
  const bob = await idOf(net, 'identities', 'bob')
  const login = { method: 'updb' as const, identityId: bob, username: 'bob', password: 'bob-password-1' }
  await admin.call('POST /authenticators', { body: login })
  const term = { startsAt: '2097-01-04T08:00:00Z', until: '2097-01-31T18:00:00Z', reason: 'the yearly audit' }
  const audit = {
    ...ANY,
    name: 'auditors-in-january',
    identityRoles: [`@${bob}`],
    serviceRoles: ['#confidential'],
    ...term,
  }
  await admin.call('POST /service-policies', { body: audit })
  await admin.call('PATCH /identities/{id}', { params: { id: bob }, body: { roleAttributes: ['sales', 'berlin'] } })
  const [clara, david] = [
    await idOf(net, 'identities', 'clara.nguyen-laptop'),
    await idOf(net, 'identities', 'david.kowalski-phone'),
  ]
  await admin.call('PATCH /identities/{id}', { params: { id: clara }, body: { roleAttributes: ['sales'] } })
  await admin.call('POST /identities/{id}/disable', { params: { id: david }, body: { durationMinutes: 0 } })
  const crm = await idOf(net, 'service-policies', 'sales-crm-in-berlin')
  await admin.call('DELETE /service-policies/{id}', { params: { id: crm } })
  const auditor = { name: 'auditor', type: 'User' as const, isAdmin: true, rightsUntil: '2099-01-01T00:00:00Z' }
  await admin.call('POST /identities', { body: auditor })
  // A router tells its bytes every 15 seconds.
  await net.elapse(16_000)
  return served
}
