export { MISSING_KINDS, type MissingPosture } from '../posture/index.ts'
export { explainAccess } from './explain-access.ts'
export type {
  CheckExplanation,
  EdgeRouterExplanation,
  Explanation,
  PolicyExplanation,
  ShownRole,
  SideExplanation,
} from './explanation.ts'
export { explanationText } from './explanation-text.ts'
export type { AccessFacts, NamedEntity, PolicyUnderReview, RouterState } from './facts.ts'
export { REASONS, type Reason } from './reason.ts'
export { SUGGESTION_KINDS, type Suggestion, type SuggestionKind } from './suggestion.ts'
