export { REASONS, type Reason } from '../decision.rules.ts'
export { MISSING_KINDS } from '../posture/rules/index.ts'
export { explainAccess } from './explain-access.rules.ts'
export type {
  AccessFacts,
  CheckExplanation,
  EdgeRouterExplanation,
  Explanation,
  GivenTerm,
  HostExplanation,
  NamedEntity,
  PolicyExplanation,
  PolicyUnderReview,
  RouterState,
  ShownRole,
  SideExplanation,
  WireExplanation,
  WireFacts,
} from './explanation.rules.ts'
export { SUGGESTION_KINDS, type Suggestion, type SuggestionKind, WIRE_OBSTACLES } from './explanation.rules.ts'
export { explanationText, ownExplanationText } from './explanation-text.rules.ts'
export { DIAL_FAILURE_CAUSES, DIAL_FAILURES } from './works-now.rules.ts'
