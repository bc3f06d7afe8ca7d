/** What somebody may do so that the identity gets to the service. */
export const SUGGESTION_KINDS = [
  /** Look the id or name up: nothing is called so. */
  'check-spelling',
  /** Enable the identity. */
  'enable-identity',
  /** Give the entity role attributes with which an existing policy would select it. */
  'add-role-attributes',
  /** Create a service policy of the type for the pair. */
  'create-service-policy',
  /** Let the endpoint fulfil a posture check, or relax the check. */
  'fulfil-posture-check',
  /** Let the user prove a second factor. */
  'pass-mfa',
  /** Let an edge router policy select the identity. */
  'assign-edge-router-to-identity',
  /** Let a service edge router policy select the service. */
  'assign-edge-router-to-service',
  /** Let one edge router serve both. */
  'share-edge-router',
  /** Bring one of the common edge routers online. */
  'bring-edge-router-online',
] as const
export type SuggestionKind = (typeof SUGGESTION_KINDS)[number]

/** A suggestion as data and as a sentence. */
export interface Suggestion {
  readonly kind: SuggestionKind
  /** What it is about, most important first. */
  readonly entities: readonly { readonly kind: string; readonly id: string; readonly name: string }[]
  /** For `add-role-attributes`: what to add to the first entity. */
  readonly roleAttributes?: readonly string[]
  readonly text: string
}
