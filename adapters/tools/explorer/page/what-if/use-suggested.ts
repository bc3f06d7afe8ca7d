import { useEffect, useRef, useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { problemText } from '../api/problem-text.ts'
import { place, stay } from '../navigation/place.ts'
import type { Answer } from '../parts/use-answer.ts'
import { EMPTY_POLICY, newPolicy } from './change.ts'
import { draft, put } from './draft.ts'
import { linkOf, readDraft } from './draft-link.ts'
import { readAttributes, readChange } from './read-entity.ts'

type Failure = Pick<Answer<unknown>, 'problem' | 'reload'>

/** Takes over the change that a link suggests, once, and keeps the rest of the address; answers why that failed, and how it is tried again. */
export function useSuggested(apis: Apis): Failure | undefined {
  const [failure, setFailure] = useState<Failure>()
  const attempt = (step: () => Promise<void>, why = '') => {
    setFailure(undefined)
    step().catch((error: unknown) =>
      setFailure({ problem: `${why}${problemText(error)}`, reload: () => attempt(step, why) }),
    )
  }
  const { about } = place.value
  const change = about.get('change')
  useEffect(() => {
    if (change === null) return
    const [identity, service, type] = [read('identity'), read('service'), read('type')]
    const suggest = async () => {
      if (change === 'attributes') {
        const kind = read('of') === 'services' ? 'services' : 'identities'
        const entity = await readAttributes(apis, kind, read('id') ?? '')
        const added = (read('add') ?? '').split(',').filter((attribute) => attribute !== '')
        put({ ...entity, roleAttributes: [...new Set([...entity.before, ...added])] })
      }
      if (change === 'edit') put(await readChange(apis, read('of') ?? '', read('id') ?? ''))
      if (change === 'empty-policy') put(newPolicy(EMPTY_POLICY))
      if (change === 'policy' && identity && service) {
        const [who, what] = await Promise.all([
          readAttributes(apis, 'identities', identity),
          readAttributes(apis, 'services', service),
        ])
        const policy = {
          ...EMPTY_POLICY,
          name: `${who.name} ${type === 'Bind' ? 'binds' : 'dials'} ${what.name}`,
          type: type === 'Bind' ? ('Bind' as const) : ('Dial' as const),
          identityRoles: [{ value: `@${who.id}`, name: `@${who.name}` }],
          serviceRoles: [{ value: `@${what.id}`, name: `@${what.name}` }],
        }
        put(newPolicy(policy))
      }
    }
    attempt(suggest)
    stay('what-if', { identity, service, type })
  }, [change])
  const linked = about.get('draft') ?? undefined
  const link = linkOf(draft.value)
  // The address comes first; later it follows the draft.
  const followed = useRef<string | undefined>(undefined)
  useEffect(() => {
    if (change !== null) return
    if (linked !== undefined && linked !== link && linked !== followed.current) {
      followed.current = linked
      attempt(async () => {
        draft.value = await readDraft(apis, linked)
      }, 'The draft in the address cannot be opened: ')
      return
    }
    followed.current = link
    stay('what-if', { ...Object.fromEntries(about), draft: link })
  }, [change, linked, link])
  const read = (name: string) => about.get(name) ?? undefined
  return failure
}
