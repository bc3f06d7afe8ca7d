import type { TokenProblem, TokenRefused } from '../../../domain/errors.ts'

const DESCRIPTIONS: Readonly<Record<TokenProblem, string>> = {
  missing: 'no matching token was provided',
  invalid: 'token is invalid',
  expired: 'token expired',
}

/** How many characters signers may have in a challenge: most clients read 16 KiB of headers and refuse more. */
const MOST_CHARACTERS = 4096

/** The challenge that asks for a token of external signers; `undefined` when there is no signer to ask for. */
export function tokenChallenge({
  factor,
  problem,
  signers,
}: Pick<TokenRefused, 'factor' | 'problem' | 'signers'>): string | undefined {
  let characters = 0
  const named = signers.filter(({ id, issuer }) => {
    characters += id.length + issuer.length
    return characters <= MOST_CHARACTERS
  })
  if (named.length === 0) return undefined
  const ids = named.map(({ id }) => quotable(id)).join('|')
  const issuers = named.map(({ issuer }) => quotable(issuer)).join('|')
  const realm = `openziti-${factor}-ext-jwt`
  return `Bearer realm="${realm}" error="${problem}" error_description="${DESCRIPTIONS[problem]}" id="${ids}" issuer="${issuers}"`
}

/** What may stand between quotes in a header: printable ASCII without quotes. */
function quotable(text: string): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
