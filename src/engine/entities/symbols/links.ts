import { linkedBy } from '../../../resources/declaration/derive.ts'
import type { Resource } from '../../../resources/declaration/resource.ts'
import { resourceNamed } from '../../../resources/index.ts'
import { computedSymbol } from './symbol-scope.ts'

/** The resource whose entities a field of another names, by reference or by role lists. */
export function linkOf(resource: Resource, field: string): Resource | undefined {
  const computed = computedSymbol(resource, field)
  const name = computed === undefined ? linkedBy(resource.definition, field) : selectedBy(computed)
  return name === undefined ? undefined : resourceNamed(name)
}

function selectedBy(computed: NonNullable<ReturnType<typeof computedSymbol>>): string | undefined {
  return computed.by === 'policy' ? computed.selected : undefined
}
