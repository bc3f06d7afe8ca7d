import { counted, fewOf, listed, quoted } from '../../../base/text.ts'
import { instant, instantText } from '../../../base/time.ts'
import type { Reason } from '../decision.rules.ts'
import { kindOf, type MissingPosture } from '../posture/rules/index.ts'
import type {
  AccessSince,
  CheckExplanation,
  Explanation,
  PolicyExplanation,
  SideExplanation,
} from './explanation.rules.ts'
import { worksNowLines } from './works-now.rules.ts'

/** The most names in one sentence. */
const MOST_NAMES = 5

/**
 * Renders an explanation as lines of sentences, the verdict first. Instants are RFC 3339.
 *
 * @example
 * console.log(explanationText(explainAccess(facts)))
 */
export function explanationText(explanation: Explanation): string {
  const lines = [
    verdict(explanation),
    ...(explanation.since === null ? [] : [sinceText(explanation.since)]),
    ...policyLines(explanation),
    ...grantLines(explanation),
    ...routerLines(explanation),
    ...hostLines(explanation),
    ...(explanation.wire === null ? [] : worksNowLines(explanation.wire, explanation.edgeRouters)),
  ]
  const { holdsUntil, policies, suggestions } = explanation
  const isByTerm = policies.some(
    ({ grants, term, identitySide }) =>
      grants &&
      (term?.until === holdsUntil || identitySide.grants?.some(({ until }) => Date.parse(until) === holdsUntil)),
  )
  if (holdsUntil !== null && !isByTerm)
    lines.push(`Unless the endpoint reports anew, this ends at ${instantText(holdsUntil)} at the latest.`)
  return [...lines, ...suggestions.map(({ text }) => text)].join('\n')
}

/** Reasons that a refused identity cannot tell apart, so that it learns nothing of services that it may not reach. */
const NOT_OPEN: readonly Reason[] = ['service-unknown', 'no-policy-for-pair', 'only-other-type', 'no-policy-in-force']

/**
 * Renders an explanation as sentences for the identity itself. They name no policy, attribute, router, check or host, and no value that a
 * check admits. A service that the identity may not reach reads like a service that does not exist.
 *
 * @example
 * const explanation = await controller.engine.access.explain(SYSTEM_CALL, 'ann', 'payroll', 'Dial')
 * console.log(ownExplanationText(explanation))
 */
export function ownExplanationText(explanation: Explanation): string {
  const { asked, identity, policies, reason, type } = explanation
  if (NOT_OPEN.includes(reason)) {
    const who = quoted(identity?.name ?? asked.identity)
    return `${who} may not ${type.toLowerCase()} ${quoted(asked.service)}: no service of this name is open to it.`
  }
  if (reason !== 'posture-failing') return verdict(explanation)
  const failing = policies.filter(({ applies }) => applies).flatMap(({ checks }) => checks.filter(isFailing))
  const lines = failing.map((check) => `The ${check.typeId} check fails: ${listed(missingWords(check))}.`)
  return [verdict(explanation), ...new Set(lines)].join('\n')
}

function isFailing({ isPassing }: CheckExplanation): boolean {
  return !isPassing
}

/** The missing conditions of a check, without the paths of processes. */
function missingWords(check: CheckExplanation): readonly string[] {
  return [...new Set(check.missing.map(({ kind }) => missingText({ kind }, check)))]
}

function verdict({ allowed, reason, type, asked, identity, service }: Explanation): string {
  const who = quoted(identity?.name ?? asked.identity)
  const what = quoted(service?.name ?? asked.service)
  const because = BECAUSE[reason]
  const beginning = `${who} ${allowed ? 'may' : 'may not'} ${type.toLowerCase()} ${what}`
  if (because === '') return `${beginning}.`
  return because.startsWith('but ') ? `${beginning}, ${because}.` : `${beginning}: ${because}.`
}

const BECAUSE: Readonly<Record<Reason, string>> = {
  'identity-unknown': 'there is no such identity',
  'service-unknown': 'there is no such service',
  'identity-disabled': 'the identity is disabled',
  'no-policy-for-pair': 'no service policy selects both',
  'only-other-type': 'service policies select both, but only for the other of Dial and Bind',
  'no-policy-in-force': 'service policies select both, but none of them is in force',
  'posture-failing': 'every service policy that selects both has a posture check that fails',
  'no-edge-router-for-identity': 'no edge router policy gives the identity an edge router',
  'no-edge-router-for-service': 'no service edge router policy gives the service an edge router',
  'no-common-edge-router': 'the identity and the service have no edge router in common',
  'all-common-edge-routers-offline': 'but nothing will connect, because all of their common edge routers are offline',
  'no-terminators': 'but nothing will connect, because nothing hosts the service: it has no terminator',
  granted: '',
}

const KINDS: Readonly<Record<string, string>> = {
  identities: 'identity',
  services: 'service',
  'service-policies': 'service policy',
}

function sinceText({ by, at, policy, change }: AccessSince): string {
  const when = instant(at).toISOString()
  const grants = `The policy ${quoted(policy.name)} grants it`
  if (by === 'before') return `${grants} since ${when} or longer: the audit trail tells of nothing earlier.`
  if (change === null) return `${grants} since ${when}, when the time ended for which the identity was disabled.`
  const { type, entity, actor } = change
  const what = `the ${KINDS[entity.kind] ?? entity.kind} ${quoted(entity.name ?? entity.id)}`
  const who = actor === null ? '' : ` by ${quoted(actor.name ?? actor.id)}`
  return `${grants} since ${when}, when ${what} was ${type === 'entity.created' ? 'created' : 'changed'}${who}.`
}

function policyLines(explanation: Explanation): readonly string[] {
  const { policies } = explanation
  const selectingBoth = policies.filter(({ identitySide, serviceSide }) => identitySide.selects && serviceSide.selects)
  const lines = selectingBoth.flatMap((policy) => [
    selectingBothText(policy, explanation),
    ...termLines(policy),
    ...policy.checks.map((check) => `  ${checkText(check)}`),
  ])
  if (selectingBoth.length > 0) return lines
  return [
    ...oneSidedText(policies, 'identitySide', explanation.identity?.name),
    ...oneSidedText(policies, 'serviceSide', explanation.service?.name),
  ]
}

function selectingBothText(policy: PolicyExplanation, { type, identity, service }: Explanation): string {
  const sides = `${sideText(identity?.name, policy.identitySide)} and ${sideText(service?.name, policy.serviceSide)}`
  const beginning = `The ${policy.type} policy ${quoted(policy.name)} selects ${sides}`
  if (policy.type !== type) return `${beginning}, but is of the other type.`
  if (!policy.applies) return `${beginning}, but is not in force.`
  if (policy.checks.length === 0) return `${beginning}; it asks for no posture.`
  const failing = policy.checks.filter(({ isPassing }) => !isPassing).length
  const total = counted(policy.checks.length, 'posture check')
  if (failing === 0) return `${beginning}; its ${total} pass${policy.checks.length === 1 ? 'es' : ''}.`
  return `${beginning}; of its ${total} ${failing} fail${failing === 1 ? 's' : ''}:`
}

/** The term of a policy as a sentence: when it grants, who gave it, and why. */
function termLines({ term }: PolicyExplanation): readonly string[] {
  if (term === null) return []
  const verb = { coming: 'will grant', 'in-force': 'grants', over: 'granted' }[term.phase]
  const spelled = (at: number | null) => (at === null ? null : instantText(at))
  return [`  It ${verb}${givenText({ ...term, startsAt: spelled(term.startsAt), until: spelled(term.until) })}.`]
}

/** The grants of role attributes that select the identity, or will: for how long, by whom, and why. */
function grantLines({ identity, policies, type }: Explanation): readonly string[] {
  const concerned = policies.filter((policy) => policy.type === type && policy.serviceSide.selects)
  const lines = concerned.flatMap(({ identitySide }) =>
    (identitySide.grants ?? []).map((grant) => {
      const has = grant.phase === 'coming' ? 'will have' : 'has'
      return `${quoted(identity?.name ?? '')} ${has} the role attribute ${quoted(grant.attribute)}${givenText(grant)}.`
    }),
  )
  return [...new Set(lines)]
}

type Given = Readonly<Record<'startsAt' | 'until' | 'givenBy' | 'reason', string | null>>

function givenText({ startsAt, until, givenBy, reason }: Given): string {
  const from = startsAt === null ? '' : ` from ${startsAt}`
  const to = until === null ? '' : ` until ${until}`
  const given = givenBy === null ? '' : `, given by ${quoted(givenBy)}`
  return `${from}${to}${given}${reason === null ? '' : `, because: ${quoted(reason)}`}`
}

function sideText(name: string | undefined, { matched }: SideExplanation): string {
  return `${quoted(name ?? '')} by ${listed(matched.map((role) => role.name))}`
}

function oneSidedText(
  policies: readonly PolicyExplanation[],
  side: 'identitySide' | 'serviceSide',
  name: string | undefined,
): readonly string[] {
  if (name === undefined) return []
  const names = policies.filter((policy) => policy[side].selects).map((policy) => quoted(policy.name))
  if (names.length === 0) return [`No service policy selects ${quoted(name)}.`]
  const subject = counted(names.length, 'service policy').replace(/policys$/, 'policies')
  return [`${subject} ${names.length === 1 ? 'selects' : 'select'} ${quoted(name)} alone: ${fewOf(names, MOST_NAMES)}.`]
}

function routerLines({ identity, service, edgeRouters }: Explanation): readonly string[] {
  if (identity === null || service === null) return []
  const { ofIdentity, ofService, common, online } = edgeRouters
  const uses = `${quoted(identity.name)} may use ${counted(ofIdentity.length, 'edge router')}`
  const reached = `${quoted(service.name)} is reached through ${counted(ofService.length, 'edge router')}`
  const shared = `They have ${counted(common.length, 'edge router')} in common`
  const names = common.length === 0 ? '' : ` (${fewOf(common.map(routerText), MOST_NAMES)}), ${online.length} online`
  return [`${uses}, ${reached}.`, `${shared}${names}.`]
}

function hostLines({ service, hosts }: Explanation): readonly string[] {
  if (service === null || hosts === null) return []
  const names = hosts.hosts.length === 0 ? '' : ` (${listed(hosts.hosts.map(({ name }) => quoted(name)))})`
  const may = counted(hosts.mayBindCount, 'identity').replace(/identitys$/, 'identities')
  return [`${quoted(service.name)} has ${counted(hosts.terminatorCount, 'terminator')}${names}; ${may} may bind it.`]
}

function routerText({ name, isOnline }: { readonly name: string; readonly isOnline: boolean }): string {
  return `${quoted(name)} ${isOnline ? 'online' : 'offline'}`
}

/** A posture check as sentences: its result, its demand, the known values, the missing conditions. */
function checkText(check: CheckExplanation): string {
  const { name, typeId, isPassing, holdsUntil, missing } = check
  const beginning = `The ${typeId} check ${quoted(name)} ${isPassing ? 'passes' : 'fails'}`
  if (isPassing) {
    const end = holdsUntil === null ? '' : ` until ${instant(holdsUntil).toISOString()}`
    return `${beginning}${end}.`
  }
  const asks = expectedText(check)
  return `${beginning}: ${asks === '' ? '' : `it asks for ${asks}, but `}${listed(missing.map((one) => missingText(one, check)))}.`
}

function expectedText({ typeId, expected }: CheckExplanation): string {
  const words = kindOf(typeId).expectedWords(expected)
  return words.length === 0 ? '' : listed(words, 'or')
}

function missingText({ kind, path }: MissingPosture, { typeId, known }: CheckExplanation): string {
  const process = path === undefined ? 'the process ' : `the process ${quoted(path)} `
  switch (kind) {
    case 'not-reported':
      return path === undefined ? 'nothing was reported' : `${process}was not reported`
    case 'value-not-admitted':
      return `${known === null ? 'something else' : (kindOf(typeId).actualWords?.(known) ?? 'something else')} was reported`
    case 'process-not-running':
      return `${process}does not run`
    case 'process-hash-not-admitted':
      return `${process}has another hash`
    case 'process-signer-not-admitted':
      return `${process}has another signer`
    case 'mfa-not-passed':
      return 'no second factor was proved in the API session'
    case 'mfa-timed-out':
      return 'the second factor timed out'
    case 'mfa-prompt-unanswered':
      return 'no second factor was proved after the endpoint was unlocked or woken'
  }
}
