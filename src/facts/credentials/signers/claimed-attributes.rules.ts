import { memberOf } from '../../../base/members.ts'
import type { Claims } from '../../../ports/credentials.ts'
import { isGivenAttribute, MOST_GIVEN } from '../../authority/authority.rules.ts'
import { textClaims } from './claims.rules.ts'

/** The fields of an identity that tokens of external signers decide. */
export interface ClaimFields {
  /** The role attributes of all signers together. Null without any. */
  readonly claimAttributes: readonly string[] | null
  /** The role attributes by the id of their signer. Null without any. */
  readonly claimedBy: Readonly<Record<string, readonly string[]>> | null
}

/**
 * The role attributes in the claims of a token, sorted; other texts, and those beyond the most, are left out. Undefined for a signer
 * without a selector: its tokens say nothing of role attributes.
 */
export function attributesClaimed(claims: Claims, selector: string | null): readonly string[] | undefined {
  if (!selector) return undefined
  const valid = textClaims(claims, selector).filter(isGivenAttribute)
  return [...new Set(valid.slice(0, MOST_GIVEN))].sort()
}

/** The fields after a signer claimed `attributes`, in place of what its earlier tokens claimed. None end its claims. */
export function claimFields(before: ClaimFields, signerId: string, attributes: readonly string[]): ClaimFields {
  const others = Object.entries(before.claimedBy ?? {}).filter(([id]) => id !== signerId)
  const all = attributes.length === 0 ? others : [...others, [signerId, attributes] as const]
  if (all.length === 0) return { claimAttributes: null, claimedBy: null }
  const together = new Set(all.flatMap(([, claimed]) => claimed))
  return { claimAttributes: [...together].sort(), claimedBy: Object.fromEntries(all) }
}

/** Reports whether tokens of a signer claimed role attributes for an identity. */
export function hasClaimsOf({ claimedBy }: ClaimFields, signerId: string): boolean {
  return memberOf(claimedBy, signerId) !== undefined
}
