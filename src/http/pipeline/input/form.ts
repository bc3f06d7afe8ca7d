import { invalidField } from '../../../domain/errors.ts'
import { isStorable } from '../../../domain/storable-text.ts'

/** The parameters of a form's body. Error: `COULD_NOT_VALIDATE` as for {@link storable}. */
export function readForm(bodyText: string): URLSearchParams {
  return storable(new URLSearchParams(bodyText))
}

/** The parameters. Error: `COULD_NOT_VALIDATE` naming one that no database can keep as it is. */
export function storable(parameters: URLSearchParams): URLSearchParams {
  for (const [name, value] of parameters) {
    if (isStorable(name) && isStorable(value)) continue
    throw invalidField(isStorable(name) ? name : 'form', 'holds U+0000 or half a surrogate pair', '')
  }
  return parameters
}
