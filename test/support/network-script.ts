/** One request of a script. `{identities/NAME}` anywhere in it stands for the id of the identity of that name. */
export interface ScriptedRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** From the API's name on, such as `management/v1/identities`. */
  readonly path: string
  readonly body?: object
  /** A PEM text in place of a JSON body. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The client certificate of the connection, PEM. */
  readonly certificate?: string
  /** Under which name the API session that the answer begins is kept, and whose API session the request belongs to. */
  readonly keeps?: string
  readonly as?: string
  /** Whether what follows from it may come a minute later, by itself, when something fails after it took effect. */
  readonly isFollowedUp?: boolean
  /** Whether it may have its effect any number of times. */
  readonly isRepeatable?: boolean
}

const ROUNDS = 8

/** Acts of operators and devices in a network, in an order that makes every request succeed. */
export function networkScript(): readonly ScriptedRequest[] {
  return Array.from({ length: ROUNDS }, (_, index) => round(index)).flat()
}

function round(n: number): readonly ScriptedRequest[] {
  const password = 'a-device-password'
  const request = (method: ScriptedRequest['method'], path: string, body?: object): ScriptedRequest => ({
    method,
    path: `management/v1/${path}`,
    ...(body && { body }),
  })
  const created = (path: string, body: object) => request('POST', path, body)
  return [
    created('identities', {
      name: `device${n}`,
      type: 'Default',
      isAdmin: false,
      roleAttributes: [`group${n}`],
      enrollment: { updb: `user${n}` },
    }),
    created('posture-checks', { name: `domain${n}`, typeId: 'DOMAIN', domains: ['corp.example'] }),
    created('config-types', { name: `type${n}`, schema: { type: 'object' } }),
    created('configs', { name: `config${n}`, configTypeId: `{config-types/type${n}}`, data: { port: n } }),
    created('services', { name: `service${n}`, encryptionRequired: true, configs: [`{configs/config${n}}`] }),
    created('edge-routers', { name: `gateway${n}`, isTunnelerEnabled: true }),
    created('service-policies', {
      name: `dial${n}`,
      type: 'Dial',
      semantic: 'AnyOf',
      identityRoles: [`#group${n}`],
      serviceRoles: [`@{services/service${n}}`],
      postureCheckRoles: [`@{posture-checks/domain${n}}`],
    }),
    created('edge-router-policies', {
      name: `routers${n}`,
      semantic: 'AnyOf',
      identityRoles: ['#all'],
      edgeRouterRoles: [`@{edge-routers/gateway${n}}`],
    }),
    request('GET', `identities/{identities/device${n}}/services`),
    { method: 'POST', path: `client/v1/enroll/updb?token={token/device${n}}`, body: { password } },
    {
      method: 'POST',
      path: 'client/v1/authenticate?method=password',
      body: { username: `user${n}`, password },
      isRepeatable: true,
    },
    request('PATCH', `identities/{identities/device${n}}`, { roleAttributes: ['moved'], tags: { round: n } }),
    request('GET', `identities/{identities/device${n}}/services`),
    request('PUT', `services/{services/service${n}}`, { name: `service${n}`, encryptionRequired: false }),
    request('POST', `identities/{identities/device${n}}/disable`, { durationMinutes: 5 }),
    request('POST', `identities/{identities/device${n}}/enable`),
    request('POST', `edge-routers/{edge-routers/gateway${n}}/re-enroll`),
    request('PATCH', `edge-routers/{edge-routers/gateway${n}}`, { isTunnelerEnabled: false }),
    request('DELETE', `services/{services/service${n}}`),
    request('DELETE', `identities/{identities/device${n}}`),
  ]
}
