import { z } from 'zod'
import { inputName } from '../declaration/derive.ts'
import { required } from '../declaration/field-kind.ts'
import type { ResourceDefinition } from '../declaration/resource.ts'

type Spellings = NonNullable<ResourceDefinition['spellings']>

/**
 * How a patch may be spelled: like every request, and an empty text for one of a few words means the word that stands where none
 * is given, as it does for deployed controllers.
 */
export function patchSpellings(definition: ResourceDefinition): Spellings {
  const words = Object.entries(definition.writable).flatMap(([field, schema]) =>
    schema instanceof z.ZodDefault && required(schema) instanceof z.ZodEnum
      ? [[inputName(definition, field), schema.parse(undefined)] as const]
      : [],
  )
  const spellings = definition.spellings ?? ((body) => body)
  return (body) => {
    const meant = words.filter(([name]) => body[name] === '')
    return spellings({ ...body, ...Object.fromEntries(meant) })
  }
}
