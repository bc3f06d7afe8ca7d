import type { Act } from './acts.ts'
import { change, look } from './changes.ts'
import type { Choices } from './choices.ts'
import { MOST_AHEAD_MS } from './known-claims.ts'
import type { KnownGrant } from './known-facts.ts'
import { drawTerm, shown, tryAfter } from './timed-acts.ts'
import { ROLES, type World } from './world.ts'

/** The right that a role attribute gives. */
export const rightOf = (attribute: string) => (attribute === 'dials' ? 'Dial' : 'Bind')

/** An identity whose role attributes come and go: mostly the guest, which has no others. */
export function drawIdentity(world: World, choices: Choices): string {
  const ids = [...world.facts.roles.keys()]
  const guest = world.routers.at(-1)?.id
  return (choices.happens(0.6) ? guest : choices.pick(ids)) ?? ''
}

/** Role attributes that administrators give for some time. */
export const GRANT_ACTS: Readonly<Record<string, { readonly weight: number; readonly act: Act }>> = {
  'attribute is granted': {
    weight: 40,
    act: (world, choices) => {
      const identity = drawIdentity(world, choices)
      const attribute = choices.pick(ROLES) ?? ''
      const { startsAt, until = world.time.now + 2500 + choices.below(8000) } = drawTerm(world, choices)
      tryAfter(world, choices, { type: rightOf(attribute), identity, until })
      grantAttribute(world, choices, { identity, attribute, startsAt, until })
    },
  },
  'attribute is taken before its time': {
    weight: 25,
    act: (world, choices) => {
      const { attributeGrants } = world.facts
      const isThere = ([id, [grant]]: readonly [string, readonly (KnownGrant | undefined)[]]) =>
        !id.startsWith('grant-') && grant !== undefined && world.time.now < grant.until
      const [id] = choices.pick([...attributeGrants].filter(isThere)) ?? []
      const before = (id === undefined ? undefined : attributeGrants.get(id)) ?? []
      const [grant] = before.filter((one) => one !== undefined)
      if (id === undefined || grant === undefined) return
      const { identity, attribute } = grant
      const path = `/portcullis/v1/identities/${identity}/attribute-grants/${id}`
      change(world, choices, `${identity} is ${attribute} no more`, ['DELETE', path], {
        begins: () => attributeGrants.set(id, [...before, undefined]),
        done: () => {
          world.did('grant ended before its time')
          attributeGrants.delete(id)
          tryAfter(world, choices, { type: rightOf(attribute), identity, until: world.time.now })
        },
        // It is over, or an earlier answer was lost.
        refused: (status) => {
          const isGone = before.includes(undefined) || world.time.now >= grant.until - MOST_AHEAD_MS
          if (status === 404 && isGone) attributeGrants.delete(id)
          else attributeGrants.set(id, before)
          if (status === 404 && !isGone) world.wrong ??= `grants: ${id} is gone before its time`
        },
        lost: () =>
          look(world, `/identities/${identity}`, (answer) => {
            if (grantsIn(answer).some((one) => one.id === id)) attributeGrants.set(id, before)
            else attributeGrants.delete(id)
          }),
      })
    },
  },
}

/** An administrator gives an identity a role attribute. */
export function grantAttribute(world: World, choices: Choices, grant: KnownGrant): void {
  const { attributeGrants } = world.facts
  const { identity, attribute } = grant
  const name = `grant-${choices.uuid()}`
  const body = { attribute, reason: name, ...shown(grant) }
  const what = `${identity} is ${attribute} from ${body.startsAt} to ${body.until}`
  const path = `/portcullis/v1/identities/${identity}/attribute-grants`
  change(world, choices, what, ['POST', path, body], {
    begins: () => attributeGrants.set(name, [undefined, grant]),
    done: (answer) => {
      world.did('attribute granted')
      attributeGrants.delete(name)
      attributeGrants.set(String(Object(answer).id), [grant])
    },
    refused: () => attributeGrants.delete(name),
    lost: () =>
      look(world, `/identities/${identity}`, (answer) => {
        const found = grantsIn(answer).find(({ reason }) => reason === name)
        attributeGrants.delete(name)
        if (found !== undefined) attributeGrants.set(String(found.id), [grant])
      }),
  })
}

/** The grants that an identity is shown with. */
function grantsIn(answer: unknown): readonly { readonly id: unknown; readonly reason: unknown }[] {
  return Object.values(Object(Object(answer).attributeGrants)).map((grant) => Object(grant))
}
