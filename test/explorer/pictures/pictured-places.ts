import { type Admin, idOf } from './pictured-network.ts'

/** Views of a network without anything, by the names of their pictures. */
export const EMPTY_PLACES: Readonly<Record<string, string>> = {
  start: 'start',
  graph: 'graph',
  'graph-matrix': 'graph?as=matrix',
  why: 'why',
  'what-if': 'what-if',
  live: 'live',
  changes: 'changes',
  manage: 'manage',
  json: 'json',
}

/** Every view of the company, in each of its forms, by the names of its pictures. */
export async function everyPicture(net: Admin): Promise<Readonly<Record<string, string>>> {
  const [anna, bob, ben, phone] = [
    await idOf(net, 'identities', 'anna'),
    await idOf(net, 'identities', 'bob'),
    await idOf(net, 'identities', 'ben.okafor-laptop'),
    await idOf(net, 'identities', 'anna.schmidt-phone'),
  ]
  const [wiki, payroll] = [await idOf(net, 'services', 'wiki'), await idOf(net, 'services', 'payroll')]
  const policy = await idOf(net, 'service-policies', 'finance-payroll')
  const audit = await idOf(net, 'service-policies', 'auditors-in-january')
  const away = await idOf(net, 'edge-routers', 'er-oslo-cloud-2')
  const online = (await net.admin.call('GET /edge-routers')).data.find(({ isOnline }) => isOnline)?.id
  const first = async (kind: 'edge-router-policies' | 'service-edge-router-policies' | 'config-types') =>
    (await net.admin.call(`GET /${kind}`)).data[0]?.id
  const check = (await net.admin.call('GET /posture-checks')).data.find(({ name }) => name === 'modern-os')?.id
  return {
    ...EMPTY_PLACES,
    'graph-policies': 'graph?as=policies',
    'graph-by': 'graph?identitiesBy=engineering',
    'why-allowed': `why?identity=${anna}&service=${wiki}`,
    'why-posture': `why?identity=${ben}&service=${payroll}`,
    'why-none': `why?identity=${bob}&service=${payroll}`,
    'what-if-edit': `what-if?change=attributes&of=identities&id=${bob}&add=engineering`,
    'what-if-policy': `what-if?change=edit&of=service-policies&id=${policy}`,
    'what-if-new': 'what-if?change=empty-policy',
    'what-if-circumstances': `what-if?identity=${ben}&service=${payroll}`,
    'changes-access': 'changes?of=access',
    'manage-services': 'manage?kind=services',
    'manage-policies': 'manage?kind=service-policies',
    'manage-checks': 'manage?kind=posture-checks',
    'manage-identity': `manage?kind=identities&id=${anna}`,
    'manage-invite': `manage?kind=identities&id=${phone}`,
    'manage-new': 'manage?kind=identities&new=true',
    'manage-service': `manage?kind=services&id=${wiki}`,
    'manage-policy': `manage?kind=service-policies&id=${policy}`,
    'json-routers': 'json?kind=edge-routers',
    'json-router': `json?kind=edge-routers&id=${away}`,
    'json-policy-new': 'json?kind=service-policies&new=true',
    'json-policy': `json?kind=service-policies&id=${audit}`,
    'json-policy-json': `json?kind=service-policies&id=${audit}&as=json`,
    'json-config-new': 'json?kind=configs&new=true',
    'json-identity': `json?kind=identities&id=${anna}`,
    'json-cas': 'json?kind=cas',
    'json-ca-new': 'json?kind=cas&new=true',
    'json-auth': 'json?kind=auth-policies&new=true',
    'json-check-new': 'json?kind=posture-checks&new=true',
    'json-signer-new': 'json?kind=external-jwt-signers&new=true',
    'json-sessions': 'json?kind=api-sessions',
    'json-config-type': `json?kind=config-types&id=${await first('config-types')}`,
    'json-webhooks': 'json?kind=webhooks',
    'json-webhook-new': 'json?kind=webhooks&new=true',
    'json-terminators': 'json?kind=terminators',
    account: 'account',
    identity: `identity?id=${anna}`,
    'identity-bob': `identity?id=${bob}`,
    service: `service?id=${wiki}`,
    'service-payroll': `service?id=${payroll}`,
    policy: `policy?id=${policy}`,
    'policy-term': `policy?id=${audit}`,
    router: `router?id=${online}`,
    'router-off': `router?id=${away}`,
    check: `check?id=${check}`,
    'router-policy': `edge-router-policy?id=${await first('edge-router-policies')}`,
    'service-router-policy': `service-edge-router-policy?id=${await first('service-edge-router-policies')}`,
    attribute: 'attribute?kind=identities&of=engineering',
    'attribute-services': 'attribute?kind=services&of=internal',
    finding: 'start?finding=services-without-terminators',
    unknown: 'identity?id=nobody',
    nowhere: 'nowhere',
  }
}
