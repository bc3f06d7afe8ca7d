import type { Apis } from '../api/apis.ts'
import { ActionButton, announce } from '../parts/action.tsx'
import { numberText } from '../parts/words.ts'
import { may, useApis } from '../session/session.ts'
import { type Change, changedBy, countWrites, differenceOf, type GroupChange, isWhole, policyBody } from './change.ts'
import { draft, keyOf } from './draft.ts'
import { readAttributes, readPolicy } from './read-entity.ts'

interface Props {
  readonly changes: readonly Change[]
  /** All of them are made. */
  readonly onMade: (made: Made) => void
}

/** Makes the changes, one after the other. A change that was made leaves the draft, a failed change stays. */
export function Apply({ changes, onMade }: Props) {
  const apis = useApis()
  const apply = async () => {
    const all: Made[] = []
    for (const change of changes) {
      all.push(await make(apis, change))
      draft.value = draft.value.filter((other) => keyOf(other) !== keyOf(change))
    }
    const made = {
      written: all.reduce((sum, { written }) => sum + written, 0),
      open: all.flatMap(({ open }) => open),
    }
    announce(madeText(made))
    onMade(made)
  }
  if (!changes.every(mayMake)) return <p class="muted">You may try this, and not write it.</p>
  const areWhole = changes.every(isWhole)
  const writes = countWrites(changes)
  const these = changes.length === 1 ? 'this change' : `these ${numberText(changes.length)} changes`
  return (
    <>
      <ActionButton
        label="Apply…"
        question={`Write ${these}${writes === changes.length ? '' : ` to ${entities(writes)}`}?`}
        yes="Yes, apply"
        isPrimary
        isDisabled={!areWhole}
        act={apply}
      />
      {!areWhole && <p class="muted">A new policy needs a name before it can be made.</p>}
    </>
  )
}

function entities(count: number): string {
  return count === 1 ? 'one entity' : `${numberText(count)} entities`
}

/** The outcome of an application in words. */
export function madeText({ written }: Made): string {
  return `The changes are made: ${entities(written)} ${written === 1 ? 'was' : 'were'} written.`
}

/** Reports whether the logged in user may write a change. */
function mayMake({ kind, action }: Change): boolean {
  if (kind === 'service-policies') return may('service-policy', action)
  return may(kind === 'services' ? 'service' : 'identity', 'update')
}

/** How many entities a change has written, and entities whose pages the reader may want next. */
export interface Made {
  readonly written: number
  readonly open: readonly { readonly kind: string; readonly id: string; readonly name: string }[]
}

/**
 * Makes a change at the controller, on top of changes of others since it began: role attributes that they added or removed stay so.
 * Rejects with `ApiError` where the controller refuses, and with `Error` when a policy has changed
 * meanwhile.
 */
async function make(apis: Apis, change: Change): Promise<Made> {
  const { management } = apis
  if (change.kind === 'group') return { written: await giveToGroup(apis, change), open: [] }
  if (change.kind !== 'service-policies') {
    const { before: now } = await readAttributes(apis, change.kind, change.id)
    const body = { roleAttributes: changedBy(differenceOf(change), now) }
    const request = { params: { id: change.id }, body }
    if (change.kind === 'identities') await management.call('PATCH /identities/{id}', request)
    else await management.call('PATCH /services/{id}', request)
    return { written: 1, open: [change] }
  }
  if (change.action === 'create') {
    const { data } = await management.call('POST /service-policies', { body: policyBody(change.policy) })
    return { written: 1, open: [{ kind: change.kind, id: data.id, name: change.policy.name }] }
  }
  const now = await readPolicy(apis, change.id)
  if (JSON.stringify(policyBody(now)) !== JSON.stringify(policyBody(change.before))) {
    throw new Error(`Somebody changed the policy ${change.name} meanwhile. Drop this change and begin it again.`)
  }
  const params = { id: change.id }
  if (change.action === 'delete') {
    await management.call('DELETE /service-policies/{id}', { params })
    return { written: 1, open: [] }
  }
  await management.call('PATCH /service-policies/{id}', { params, body: policyBody(change.policy) })
  return { written: 1, open: [{ ...change, name: change.policy.name }] }
}

/**
 * Gives each holder of a role attribute another role attribute, page by page. An identity that has it already stays as it is, and is not
 * counted.
 */
async function giveToGroup({ management, portcullis }: Apis, { holders, roleAttribute }: GroupChange): Promise<number> {
  let count = 0
  const scope = JSON.stringify([{ any: [holders] }])
  let cursor: string | undefined
  do {
    const query = { kind: 'identities' as const, scope, limit: '200', ...(cursor !== undefined && { cursor }) }
    const { data } = await portcullis.call('GET /access-map/members', { query })
    for (const { id } of data.members) {
      const held = (await management.call('GET /identities/{id}', { params: { id } })).data.roleAttributes ?? []
      if (held.includes(roleAttribute)) continue
      const body = { roleAttributes: [...held, roleAttribute] }
      await management.call('PATCH /identities/{id}', { params: { id }, body })
      count += 1
    }
    cursor = data.nextCursor ?? undefined
  } while (cursor !== undefined)
  return count
}
