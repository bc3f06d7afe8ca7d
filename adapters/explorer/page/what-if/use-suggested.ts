import { useEffect, useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { problemText } from '../api/problem-text.ts'
import { place, stay } from '../navigation/place.ts'
import { EMPTY_POLICY, newPolicy } from './change.ts'
import { put } from './draft.ts'
import { readAttributes, readChange } from './read-entity.ts'

/** Takes over the change that a link suggests, once, and keeps the rest of the address; answers why that failed. */
export function useSuggested(apis: Apis): string | undefined {
  const [problem, setProblem] = useState<string>()
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
    suggest().catch((error: unknown) => setProblem(problemText(error)))
    stay('what-if', { identity, service, type })
  }, [change])
  const read = (name: string) => about.get(name) ?? undefined
  return problem
}
