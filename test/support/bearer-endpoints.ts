import { channelPair } from '../../adapters/network/channel/channel-pair.ts'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage, TRUE } from '../../adapters/network/channel/edge-messages.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import { readText, textBytes } from '../../adapters/network/channel/header-values.ts'
import { PostureReports } from '../../adapters/network/channel/posture-messages.ts'
import type { MessageOf } from '../../adapters/network/channel/protobuf/index.ts'
import { type EdgeWorld, PlayedEndpoint, until } from './edge-world.ts'
import { completeMfa } from './mfa-enrollment.ts'
import { mountOf } from './mount.ts'
import { begin, codeOf, exchangeCode, openIdTokens, proofKey, step, tokensIn } from './openid.ts'

export type Report = NonNullable<MessageOf<typeof PostureReports>['responses'][number]>
const NOTHING: Report = {
  ...{ macs: undefined, os: undefined, processList: undefined, domain: undefined },
  ...{ woken: undefined, unlocked: undefined, totpToken: undefined },
}

/** Reports the posture of an endpoint to its router, as SDKs do. */
export function report(endpoint: PlayedEndpoint, ...responses: readonly Partial<Report>[]): void {
  const body = PostureReports.encode({ responses: responses.map((one) => ({ ...NOTHING, ...one })) })
  endpoint.send({ contentType: EDGE_TYPE.posture, headers: new Map(), body: [body] })
}

/** Why a router refused, for endpoints that read more than words. */
export function refusalIn({ headers }: Frame): unknown {
  return JSON.parse(readText(headers, EDGE_HEADER.error) ?? '{}')
}

/** An endpoint with a bearer session: it logs in by a password, and asks for service sessions as SDKs do. */
export async function bearerEndpoint(
  { controller, router, serviceId }: EdgeWorld,
  name: string,
  role: string,
  hasFactor = false,
) {
  const { admin } = controller
  const identity = { name, type: 'Device' as const, isAdmin: false, roleAttributes: [role] }
  const { data: created } = await admin.call('POST /identities', { body: identity })
  const login = { username: `user ${name}`, password: `${name}-password` }
  await admin.call('POST /authenticators', { body: { identityId: created.id, method: 'updb', ...login } })
  const mounted = mountOf(controller)
  const tokens = hasFactor ? tokensByFactor(mounted, created.id, login) : openIdTokens(mounted, login)
  const { access_token: token } = await tokens
  const [channel, theirs] = channelPair()
  router.greet(theirs, { chain: [], remoteAddress: '127.0.0.1', isOfProcess: true })
  const endpoint = await PlayedEndpoint.open(channel, { id: created.id } as PlayedEndpoint['device'], token, -1)
  const call = controller.client().withToken(token)
  const serviceToken = async (type: 'Dial' | 'Bind') =>
    textBytes((await call.call('POST /sessions', { body: { serviceId, type } })).data.token)
  let last = 0
  return {
    id: created.id,
    endpoint,
    call,
    /** Dials without a service session. */
    dial: () => {
      last += 1
      return endpoint.ask(edgeMessage(EDGE_TYPE.connectV2, last, [[EDGE_HEADER.service, textBytes(serviceId)]]))
    },
    /** Hosts; answers how that went, once the controller has decided. */
    bind: async (connection = 1000): Promise<Frame> => {
      const headers = [
        [EDGE_HEADER.assignedConnection, TRUE],
        [EDGE_HEADER.supportsBindSuccess, TRUE],
      ] as const
      const known = endpoint.heard.length
      const answer = await endpoint.ask(edgeMessage(EDGE_TYPE.bind, connection, headers, await serviceToken('Bind')))
      if (answer.contentType !== EDGE_TYPE.stateConnected) return answer
      const isDecision = ({ contentType }: Frame) =>
        contentType === EDGE_TYPE.bindSuccess || contentType === EDGE_TYPE.stateClosed
      const decision = () => endpoint.heard.slice(known).find(isDecision)
      await until(() => decision() !== undefined)
      return decision() ?? answer
    },
  }
}

async function tokensByFactor(
  mounted: ReturnType<typeof mountOf>,
  id: string,
  login: { readonly username: string; readonly password: string },
) {
  const mfa = await completeMfa(mounted, { id, ...login })
  const key = proofKey()
  const request = await begin(mounted, key)
  await step(mounted, request, 'password', login)
  await step(mounted, request, 'totp', { code: mfa.code() })
  return tokensIn(await exchangeCode(mounted, await codeOf(mounted, request), key))
}
