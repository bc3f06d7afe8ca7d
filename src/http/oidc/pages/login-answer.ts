import type { MissingFactors } from '../../../engine/context/call.ts'
import type { Answer } from '../../operations/answer.ts'
import { tokenChallenge } from '../../pipeline/answer/token-challenge.ts'
import { found } from '../operations/answers.ts'
import { authQueriesOf } from './auth-queries.ts'

/** The answer to a step of a login: on to the callback when nothing is missing, otherwise what is. */
export function stepAnswer(issuer: string, id: string, missing: MissingFactors): Answer {
  return authQueriesOf(missing).authQueries === null ? completed(issuer, id) : pendingAnswer(missing)
}

/** On to the callback, at the host of the request. */
export function completed(issuer: string, id: string): Answer {
  return found(`${issuer}/authorize/callback?id=${encodeURIComponent(id)}`)
}

/** What is still to be proved, in the body and in headers. */
function pendingAnswer(missing: MissingFactors): Answer {
  const { totp, signer, signerProblem } = missing
  const challenge =
    signer && signerProblem && tokenChallenge({ factor: 'secondary', problem: signerProblem, signers: [signer] })
  return {
    raw: JSON.stringify(authQueriesOf(missing)),
    headers: {
      'content-type': 'application/json',
      ...(totp && { 'totp-required': 'true' }),
      ...(challenge && { 'www-authenticate': challenge }),
    },
  }
}

/** Reports whether a client would rather have a page than JSON: who accepts both alike gets JSON, as SDKs do. */
export function wantsPage(headers: Headers): boolean {
  const accepted = (headers.get('accept') ?? '').split(',').map((range) => range.split(';')[0]?.trim().toLowerCase())
  const page = accepted.findIndex((range) => range === 'text/html' || range === 'text/*')
  const data = accepted.findIndex(
    (range) => range === 'application/json' || range === '*/*' || range === 'application/*',
  )
  return page >= 0 && (data < 0 || page < data)
}
