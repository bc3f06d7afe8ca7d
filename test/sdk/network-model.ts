const ALL = { semantic: 'AnyOf', edgeRouterRoles: ['#all'] } as const

/** Clients dial and hosts bind `app` and `plain`; `guarded` asks clients for a posture. */
export const NETWORK_MODEL = {
  services: [
    { name: 'app', encryptionRequired: true, roleAttributes: ['open'] },
    { name: 'plain', encryptionRequired: false, roleAttributes: ['open'] },
    { name: 'guarded', encryptionRequired: true, roleAttributes: ['guarded'] },
  ],
  postureChecks: [{ name: 'at work', typeId: 'DOMAIN', domains: ['corp.example'], roleAttributes: ['at-work'] }],
  servicePolicies: [
    { name: 'dial', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#clients'], serviceRoles: ['#open'] },
    {
      name: 'dial guarded',
      type: 'Dial',
      semantic: 'AnyOf',
      identityRoles: ['#clients'],
      serviceRoles: ['#guarded'],
      postureCheckRoles: ['#at-work'],
    },
    { name: 'bind', type: 'Bind', semantic: 'AnyOf', identityRoles: ['#hosts'], serviceRoles: ['#open', '#guarded'] },
  ],
  edgeRouterPolicies: [{ name: 'everybody', ...ALL, identityRoles: ['#all'] }],
  serviceEdgeRouterPolicies: [{ name: 'everything', ...ALL, serviceRoles: ['#all'] }],
} as const
