import { X509Certificate } from 'node:crypto'
import type { Storage } from 'portcullis'
import { createTestController, type TestController } from 'portcullis/testing'
import { now } from './certificates/certificates.ts'
import { type FaultyStorage, faultyStorage } from './faulty-storage.ts'
import type { ScriptedRequest } from './network-script.ts'
import { withSharedPki } from './shared-pki.ts'
import { STEP_MS, totp } from './totp.ts'

type Found = Readonly<Record<string, unknown>>

/** The values for the places of a script. */
export interface Facts {
  /** A record of the management API by its name; empty when there is none. */
  find(kind: string, name: string): Promise<Found>
}

/** The text that a place such as `{kind/NAME}` stands for. */
export type Place = (facts: Facts, name: string) => Promise<string>

/** A network that scripted requests are sent to, on a storage that can be made to fail. */
export interface ScriptedNetwork {
  readonly controller: TestController
  readonly faulty: FaultyStorage
  readonly storage: Storage
  /** Puts ids, tokens and codes of this network in the places of a request. */
  resolve(request: ScriptedRequest): Promise<ScriptedRequest>
  send(request: ScriptedRequest): Promise<ScriptedAnswer>
  /** Lets milliseconds pass, and what is due in them happen. */
  elapse(milliseconds: number): Promise<void>
  useSessions(): Promise<void>
  close(): Promise<void>
}

export interface ScriptedAnswer {
  readonly status: number
  readonly retryAfter: string | null
  readonly data?: unknown
  readonly meta: { readonly pagination?: { readonly totalCount: number } }
}

/** Starts a network; `places` are those of the script besides its own. */
export async function startNetwork(
  storage: Storage,
  places: Readonly<Record<string, Place>> = {},
): Promise<ScriptedNetwork> {
  const faulty = faultyStorage(storage)
  const controller = await createTestController(await withSharedPki({ storage: faulty, now }))
  const sessions = new Map<string, string>()
  const secrets = new Map<string, string>()

  const send = async ({ method, path, body, text, headers = {}, certificate, as, keeps }: ScriptedRequest) => {
    const session = sessions.get(as ?? (path.startsWith('management') ? 'admin' : ''))
    const request = new Request(`https://controller.test/edge/${path}`, {
      method,
      headers: {
        'content-type': text === undefined ? 'application/json' : 'text/plain',
        ...(session !== undefined && { 'zt-session': session }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(text !== undefined && { body: text }),
    })
    const clientCertificates = certificate === undefined ? [] : [new X509Certificate(certificate).raw]
    const response = await controller.fetch(request, { clientCertificates })
    // Every answer of the API is such an envelope.
    const answer = (await response.json()) as Omit<ScriptedAnswer, 'status' | 'retryAfter'>
    if (keeps !== undefined && response.ok) sessions.set(keeps, String(member(answer.data, 'token')))
    return { ...answer, status: response.status, retryAfter: response.headers.get('retry-after') }
  }
  await send({
    method: 'POST',
    path: 'management/v1/authenticate?method=password',
    body: { username: 'admin', password: 'admin-password' },
    keeps: 'admin',
  })

  /** Now and then use is written down: what follows from the time alone is no part of the request to come. */
  const useSessions = async () => {
    for (const as of sessions.keys()) await send({ method: 'GET', path: 'client/v1/current-api-session', as })
  }
  const findWhere = async (kind: string, filter: string): Promise<Found> => {
    const path = `management/v1/${kind}?filter=${encodeURIComponent(filter)}`
    const { data } = await send({ method: 'GET', path })
    // A list of records, as the API's own document says.
    return (data as readonly Found[])[0] ?? {}
  }
  const find = (kind: string, name: string) => findWhere(kind, `name = "${name}"`)
  const tokenOf = (method: string): Place => {
    return async (_, name) => String(member((await find('identities', name)).enrollment, method, 'token'))
  }
  const known: Readonly<Record<string, Place>> = {
    ...places,
    token: tokenOf('updb'),
    ott: tokenOf('ott'),
    ottca: tokenOf('ottca'),
    'enrollment-token': async (_, place) => {
      const [kind = '', name = ''] = place.split(':')
      return String((await find(kind, name)).enrollmentToken)
    },
    certificate: async (_, name) => {
      const { id } = await find('identities', name)
      return String((await findWhere('authenticators', `identity = "${String(id)}" and method = "cert"`)).certPem)
    },
    /** A code that was never used, of the app of the owner of an API session. */
    totp: async (_, as) => {
      const { data } = await send({ method: 'GET', path: 'client/v1/current-identity/mfa', as })
      const url = member(data, 'provisioningUrl')
      if (typeof url === 'string' && url !== '') secrets.set(as, new URL(url).searchParams.get('secret') ?? '')
      await controller.elapse(STEP_MS)
      // Effects of time alone happen now, so that they are no part of the request to come.
      await Promise.all([
        find('identities', 'none'),
        send({ method: 'GET', path: 'client/v1/current-api-session', as }),
      ])
      return totp(secrets.get(as) ?? '', controller.clock.now())
    },
  }
  return {
    controller,
    faulty,
    storage,
    send,
    useSessions,
    elapse: (milliseconds) => controller.elapse(milliseconds),
    async resolve(request) {
      let text = JSON.stringify(request)
      for (const [place = '', kind = '', name = ''] of text.matchAll(/\{([a-z-]+)\/([\w:-]+)\}/g)) {
        const value = known[kind] ? await known[kind]({ find }, name) : String((await find(kind, name)).id)
        text = text.replace(place, JSON.stringify(value).slice(1, -1))
      }
      return JSON.parse(text)
    },
    close: () => controller.close(),
  }
}

/** The value at a path of members in an object; undefined when a part of it is missing. */
function member(data: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
    data,
  )
}
