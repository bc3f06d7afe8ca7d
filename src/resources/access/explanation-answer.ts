import type { Explanation, MissingKind } from '../../domain/explain/index.ts'

/** A posture check in an explanation. */
export interface ExplainedCheck {
  readonly id: string
  readonly name: string
  readonly typeId: Explanation['policies'][number]['checks'][number]['typeId']
  readonly isPassing: boolean
  /** The values that pass, of a shape by type. */
  readonly expected?: unknown
  /** What was reported, of a shape by type; null when nothing was. */
  readonly known?: unknown
  readonly missing: readonly { readonly kind: MissingKind; readonly path?: string | undefined }[]
  /** When it fails by itself, RFC 3339; null when it does not. */
  readonly holdsUntil: string | null
}

/** A service policy in an explanation. */
export interface ExplainedPolicy extends Omit<Explanation['policies'][number], 'checks'> {
  readonly checks: readonly ExplainedCheck[]
}

/** Why an identity may, or may not, dial or bind a service. Instants are RFC 3339. */
export interface ExplanationAnswer
  extends Omit<Explanation, 'at' | 'holdsUntil' | 'changesAt' | 'policies' | 'suggestions'> {
  readonly at: string
  readonly policies: readonly ExplainedPolicy[]
  readonly holdsUntil: string | null
  readonly changesAt: string | null
  readonly suggestions: readonly ExplainedSuggestion[]
  /** The explanation for people, over several lines. */
  readonly text: string
}

/** A suggestion in an explanation. */
export interface ExplainedSuggestion extends Omit<Explanation['suggestions'][number], 'roleAttributes'> {
  readonly roleAttributes?: readonly string[] | undefined
}
