import type { Apis } from '../api/apis.ts'
import { policyFormLink } from '../forms/form-link.ts'
import { invite, USUAL_HOURS } from '../manage/enrollment.tsx'
import { hrefOf } from '../navigation/place.ts'
import { ActionButton } from '../parts/action.tsx'
import { may, session, useApis } from '../session/session.ts'
import type { FindingKind, Findings } from './finding-words.ts'

type Entity = Findings[number]['entities'][number]

/** An act against a finding, for one entity: a form that is opened, or a request that runs here. */
interface Act {
  readonly label: string
  readonly href?: string
  /** The question before it runs; absent for an act that takes nothing away. */
  readonly question?: string
  readonly run?: (apis: Apis) => Promise<unknown>
}

/** The act against a finding, for one entity; nothing for a user who may not do it. */
export function FindingAct({ finding, entity, onDone }: { finding: FindingKind; entity: Entity; onDone: () => void }) {
  const apis = useApis()
  const { label = '', href, question, run } = actOf(finding, entity) ?? {}
  if (href !== undefined) {
    return (
      <a class="button" href={href}>
        {label}
      </a>
    )
  }
  if (run === undefined) return null
  return (
    <ActionButton label={label} question={question} done={`${label}: done.`} act={() => run(apis)} onDone={onDone} />
  )
}

/** The words on the act against a finding; undefined for a user who may not do it. */
export function actLabel(finding: FindingKind, entity: Entity): string | undefined {
  return actOf(finding, entity)?.label
}

function actOf(finding: FindingKind, entity: Entity): Act | undefined {
  const { kind, id, at } = entity
  const form = (label: string) => ({ label, href: hrefOf('json', { kind, id }) })
  switch (finding) {
    case 'edge-routers-offline':
    case 'edge-router-clocks':
      return form('Open it')
    case 'backups-old':
      if (session.value?.isAdmin !== true) return undefined
      return { label: 'Make a snapshot', run: ({ management }) => management.call('POST /database/snapshot', {}) }
    case 'authorities-ending':
      if (session.value?.isAdmin !== true || !isPart(id)) return undefined
      return {
        label: 'Renew it',
        question: id === 'server' ? 'Make a new key and certificate?' : 'Make a new one, and have every holder renew?',
        run: ({ portcullis }) => portcullis.call('POST /pki/rotations', { body: { what: id } }),
      }
    case 'certificates-ending':
      if (kind !== 'edge-routers') return may('ca', 'update') ? form('Change it') : undefined
      if (!may('router', 'update')) return undefined
      return {
        label: 'Enroll anew',
        question: 'Disconnect it until it enrolls by a new token?',
        run: ({ management }) => management.call('POST /edge-routers/{id}/re-enroll', { params: { id } }),
      }
    case 'identity-certificates-ending':
      if (at !== null && Date.parse(at) < Date.now()) return invitation(id)
      return may('authenticator', 'update') ? { label: 'Ask to renew', run: (apis) => askToRenew(apis, id) } : undefined
    case 'administrators-without-second-factor':
      return may('identity', 'update') ? form('Choose an auth policy') : undefined
    case 'identities-not-seen':
      if (!may('identity', 'update')) return undefined
      return {
        label: 'Disable',
        question: 'Let it in no more?',
        run: ({ management }) =>
          management.call('POST /identities/{id}/disable', { params: { id }, body: { durationMinutes: 0 } }),
      }
    case 'services-without-terminators':
      return policyFormLink('host', entity, 'Let a host bind it')
    case 'services-without-edge-routers':
      return policyFormLink('routersOfService', entity, 'Give it edge routers')
    case 'services-without-identities':
      return policyFormLink('identities', entity, 'Let somebody reach it')
    case 'identities-without-services':
      return policyFormLink('services', entity, 'Let it reach something')
    case 'identities-without-edge-routers':
      return policyFormLink('routersOfIdentity', entity, 'Give it edge routers')
    case 'policies-without-effect':
    case 'policies-over':
    case 'policies-unused':
      return may(kind.replace(/ies$/, 'y'), 'update') ? form('Change it') : undefined
    case 'invitations-ended':
    case 'invitations-ending':
      return invitation(id)
    case 'clock-behind':
    case 'edge-routers-behind':
      return undefined
  }
}

function invitation(id: string): Act | undefined {
  if (!may('enrollment', 'create') || !may('enrollment', 'update')) return undefined
  return {
    label: 'Invite anew',
    run: async (apis) => {
      const { data } = await apis.management.call('GET /identities/{id}', { params: { id } })
      await invite(apis, data, USUAL_HOURS)
    },
  }
}

/** The holder reads in its session that it is asked to renew, for each of its certificates. */
async function askToRenew({ management }: Apis, id: string): Promise<void> {
  const { data } = await management.call('GET /identities/{id}/authenticators', { params: { id } })
  for (const one of data) {
    if (one.method !== 'cert') continue
    await management.call('POST /authenticators/{id}/request-extend', { params: { id: one.id } })
  }
}

function isPart(id: string): id is 'root' | 'signing' | 'server' {
  return id === 'root' || id === 'signing' || id === 'server'
}
