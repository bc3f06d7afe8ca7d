import { isMap } from '../../../../../src/base/members.ts'
import type { NetworkModel } from '../../../model/index.ts'
import { UsageError } from '../../command-line/usage.ts'

/** A service, and the address that answers it. */
export interface AnsweredService {
  readonly service: string
  readonly host: string
  readonly port: number
}

/** The identity by which the process hosts services. */
export const HOST = 'host'
/** The role attribute of services that the process hosts. */
const HOSTED = 'up'
/** Names of services and identities stand in policies, addresses and lines for shells as they are. */
export const PLAIN_NAME: RegExp = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
/** The name of the service policy that lets it. */
const HOSTING = 'up hosts'

/** The network with further services and further identities that may dial them. Throws {@link UsageError} for the name of another service. */
export function withServices(
  network: NetworkModel,
  added: readonly AnsweredService[],
  dialers: readonly string[],
): NetworkModel {
  const { services = [], configs = [], identities = [], servicePolicies = [] } = network
  const foreign = added.find(({ service }) => services.some((known) => known.name === service && !isHosted(known)))
  if (foreign !== undefined) {
    throw new UsageError(`'${foreign.service}': the network has a service of that name that up did not make`)
  }
  const known = (name: string) => services.find((service) => service.name === name)
  const dialPolicy = (service: string) => servicePolicies.find(({ name }) => name === dialing(service))
  const joined = dialers.length === 0 ? [] : added
  return {
    ...withoutEmptyRouterPolicies(network),
    configs: replaced(configs, added.flatMap(configsOf)),
    services: replaced(
      services,
      added.map(({ service: name }) => ({
        ...(known(name) ?? { roleAttributes: [HOSTED], encryptionRequired: true }),
        name,
        configs: union(known(name)?.configs, [hosting(name), interception(name)]),
      })),
    ),
    identities: [
      ...identities,
      ...[HOST, ...dialers]
        .filter((name) => !identities.some((identity) => identity.name === name))
        .map((name) => ({ name, type: name === HOST ? ('Service' as const) : ('Device' as const) })),
    ],
    servicePolicies: replaced(servicePolicies, [
      ...joined.map(({ service }) => ({
        ...(dialPolicy(service) ?? {
          type: 'Dial' as const,
          semantic: 'AnyOf' as const,
          serviceRoles: [`@${service}`],
        }),
        name: dialing(service),
        identityRoles: union(
          dialPolicy(service)?.identityRoles,
          dialers.map((name) => `@${name}`),
        ),
      })),
      ...(servicePolicies.some(({ name }) => name === HOSTING) ? [] : [HOSTING_POLICY]),
    ]),
  }
}

const HOSTING_POLICY = {
  name: HOSTING,
  type: 'Bind',
  semantic: 'AnyOf',
  identityRoles: [`@${HOST}`],
  serviceRoles: [`#${HOSTED}`],
} as const

/** The services that the process hosts, at the addresses of their configs. Callers of the network may name services otherwise. */
export function answeredServices({ services = [], configs = [] }: NetworkModel): readonly AnsweredService[] {
  const named = services.filter(({ name }) => PLAIN_NAME.test(name))
  return named.filter(isHosted).flatMap(({ name: service }) => {
    const data = configs.find(({ name }) => name === hosting(service))?.data
    return isMap(data) ? [{ service, host: String(data.address), port: Number(data.port) }] : []
  })
}

/** The services of the process that an identity may dial by the policies of `up`. */
export function dialedBy(identity: string, { servicePolicies = [] }: NetworkModel): (service: string) => boolean {
  return (service) =>
    servicePolicies.some(
      ({ name, identityRoles }) => name === dialing(service) && identityRoles?.includes(`@${identity}`) === true,
    )
}

function isHosted({ roleAttributes }: { readonly roleAttributes?: readonly string[] | null }): boolean {
  return roleAttributes?.includes(HOSTED) === true
}

function dialing(service: string): string {
  return `${service} dial`
}

function hosting(service: string): string {
  return `${service} host`
}

function interception(service: string): string {
  return `${service} intercept`
}

/** How hosts answer a service, and by which address tunnelers offer it to programs of their machines. */
function configsOf({ service, host, port }: AnsweredService) {
  const intercepted = { protocols: ['tcp'], addresses: [`${service}.ziti`], portRanges: [{ low: port, high: port }] }
  return [
    { name: hosting(service), configTypeId: 'host.v1', data: { protocol: 'tcp', address: host, port } },
    { name: interception(service), configTypeId: 'intercept.v1', data: intercepted },
  ]
}

/** Left out, the lists mean all with all; the network of a folder that has none has empty ones. */
function withoutEmptyRouterPolicies(network: NetworkModel): NetworkModel {
  const { edgeRouterPolicies = [], serviceEdgeRouterPolicies = [], ...rest } = network
  return edgeRouterPolicies.length + serviceEdgeRouterPolicies.length > 0 ? network : rest
}

function replaced<T extends { readonly name: string }>(present: readonly T[], added: readonly T[]): readonly T[] {
  return [...present.filter(({ name }) => !added.some((one) => one.name === name)), ...added]
}

function union(present: readonly string[] | null | undefined, added: readonly string[]): string[] {
  return [...new Set([...(present ?? []), ...added])]
}
