import { defineCommand } from '../../command-line/command.ts'
import { CONNECTION_OPTIONS } from '../../connection/connection-options.ts'

const WHERE = `Asks a running controller: as the login of portcullis login, or with --url and PORTCULLIS_ADMIN_USERNAME and
PORTCULLIS_ADMIN_PASSWORD. Posture counts for nothing; portcullis explain counts it. Nothing is written.`
const ALL = { all: { summary: 'every one of them, however many; 50 by default' } } as const

/** `portcullis who`. */
export const WHO = defineCommand({
  name: 'who',
  summary: 'tell who reaches a service, and by which policies',
  operands: 'SERVICE',
  options: { ...CONNECTION_OPTIONS, ...ALL },
  hasJson: true,
  details: WHERE,
  examples: ['portcullis who payroll'],

  run: async (call) => (await import('./ask-reach.ts')).askWho(call),
})

/** `portcullis reach`. */
export const REACH = defineCommand({
  name: 'reach',
  summary: 'tell what an identity reaches, and by which policies',
  operands: 'IDENTITY',
  options: { ...CONNECTION_OPTIONS, ...ALL },
  hasJson: true,
  details: WHERE,
  examples: ['portcullis reach anna'],

  run: async (call) => (await import('./ask-reach.ts')).askReach(call),
})

/** `portcullis what-if`. */
export const WHAT_IF = defineCommand({
  name: 'what-if',
  summary: 'tell what would come of giving a role attribute to everybody who has another one',
  operands: 'GROUP ROLE',
  options: CONNECTION_OPTIONS,
  hasJson: true,
  details: `Both are role attributes of identities, with or without #. ${WHERE}`,
  examples: ['portcullis what-if berlin finance'],
  run: async (call) => (await import('./ask-reach.ts')).askWhatIf(call),
})

/** `portcullis findings`. */
export const FINDINGS = defineCommand({
  name: 'findings',
  summary: 'tell who reaches nothing, what nobody reaches, what is offline and what runs out',
  options: CONNECTION_OPTIONS,
  hasJson: true,
  details: WHERE,
  examples: ['portcullis findings'],
  run: async (call) => (await import('./ask-findings.ts')).askFindings(call),
})

/** `portcullis changes`. */
export const CHANGES = defineCommand({
  name: 'changes',
  summary: 'tell what was changed lately, from what to what, and by whom',
  options: {
    ...CONNECTION_OPTIONS,
    hours: { value: 'N', summary: 'of how many hours; default 1' },
    access: { summary: 'only of what decides access, with who lost or gained it as of now' },
  },
  hasJson: true,
  details: `Reads the audit trail of a running controller. ${WHERE}`,
  examples: ['portcullis changes', 'portcullis changes --hours 24 --access'],
  run: async (call) => (await import('./ask-findings.ts')).askChanges(call),
})
