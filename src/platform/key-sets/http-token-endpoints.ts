import type { TokenEndpoints } from '../../ports/key-sets.ts'
import { guardedText } from './guarded-http.ts'

/** Token endpoints over HTTP, as guarded as key sets are. */
export function createHttpTokenEndpoints(allowInternal: boolean): TokenEndpoints {
  return {
    post: (url, form) => guardedText(url, { allowInternal, form: new URLSearchParams(form).toString() }),
  }
}
