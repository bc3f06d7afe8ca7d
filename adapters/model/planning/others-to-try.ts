import {
  isInvariant,
  kindOfKey,
  linksOf,
  type Model,
  type NetworkEntity,
  renameLinks,
} from '../../../src/model/index.ts'

/**
 * What of a network a model has to be tried together with: all policies, and what these and the assertions name. Identities
 * and services that nobody asks about stay out, for there may be very many. References to what is not in the network are
 * left out, as a controller leaves them out when what they refer to is deleted.
 */
export function othersToTry(model: Model, network: readonly NetworkEntity[]): readonly NetworkEntity[] {
  const own = new Set(model.entities.map(({ key, name }) => `${key} ${name}`))
  const known = new Set([...own, ...network.map(({ key, name }) => `${key} ${name}`)])
  const others = network.filter(({ key, name, isKept }) => !isKept && !own.has(`${key} ${name}`))
  const asked = askedFor(model)
  const isAskedFor = ({ name, body }: NetworkEntity) => asked.has('#all') || asked.has(name) || hasAny(body, asked)
  const taken = new Set(others.filter((entity) => !isNumerous(entity) || isAskedFor(entity)))
  const byName = new Map(others.map((entity) => [`${entity.key} ${entity.name}`, entity]))
  const waiting: Pick<NetworkEntity, 'key' | 'body'>[] = [...model.entities, ...taken]
  for (let entity = waiting.pop(); entity !== undefined; entity = waiting.pop()) {
    for (const { to, name } of linksOf(kindOfKey(entity.key), entity.body)) {
      const target = byName.get(`${to} ${name}`)
      if (target === undefined || taken.has(target)) continue
      taken.add(target)
      waiting.push(target)
    }
  }
  const isThere = (key: string, name: string) => known.has(`${key} ${name}`)
  return others
    .filter((entity) => taken.has(entity))
    .map(({ body, ...entity }) => {
      const links = renameLinks(kindOfKey(entity.key), body, (to, name) => (isThere(to, name) ? name : undefined))
      return { ...entity, body: links }
    })
}

function isNumerous({ key }: NetworkEntity): boolean {
  return key === 'identities' || key === 'services'
}

function hasAny(body: NetworkEntity['body'], asked: ReadonlySet<string>): boolean {
  const attributes: unknown = body.roleAttributes
  return Array.isArray(attributes) && attributes.some((attribute) => asked.has(`#${attribute}`))
}

/** The names and roles that assertions speak of. */
function askedFor({ assertions }: Model): ReadonlySet<string> {
  const texts = assertions.flatMap(({ assertion }) => {
    if (isInvariant(assertion)) {
      const { never, unless } = assertion
      return [never.identity, never.dial ?? [], never.bind ?? [], unless?.identity ?? [], unless?.service ?? []].flat()
    }
    const { as, dial, bind } = assertion
    return [as, dial?.allow ?? [], dial?.deny ?? [], bind?.allow ?? [], bind?.deny ?? []].flat()
  })
  return new Set(texts.map((text) => (text.startsWith('@') ? text.slice(1) : text)))
}
