import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { visibleLine } from '../../../../src/base/text.ts'
import { type ImportReport, type Operator, openOperator, type PkiMaterial } from '../../../../src/index.ts'
import { memoryStorage } from '../../../../src/memory.ts'
import { PkiFileError, pkiFilesIn, readPkiFiles } from '../../../web/node/index.ts'
import {
  applyPlan,
  checkMoved,
  holdSecondFactors,
  identitiesWithSecondFactor,
  leadsTo,
  planModel,
  planText,
  readExport,
  readSource,
} from '../../model/index.ts'
import { type Answer, defineCommand, EXIT_NO } from '../command-line/command.ts'
import type { GivenOptions } from '../command-line/options.ts'
import { type Environment, UsageError } from '../command-line/usage.ts'
import { withConnection } from '../connection/connect.ts'
import { DEFAULT_STORAGE, openStorage, readTables, STORAGE_OPTIONS } from '../input/open-storage.ts'
import type { Terminal } from '../output.ts'
import { withoutMistakes } from './model/model-files.ts'
import { readPkiSource } from './serve/limit-options.ts'

/** `portcullis import`. */
export const IMPORT = defineCommand({
  options: {
    from: { value: 'https://HOST:PORT|FILE', summary: 'the controller to read, or what ziti ops export wrote of it' },
    'from-ca': { value: 'FILE', summary: 'trust bundle of that controller, PEM: the bundle that its devices pin' },
    ...STORAGE_OPTIONS,
    pki: { value: 'DIR', variable: true, summary: 'folder of certificates and keys; default .portcullis/pki' },
    'server-cert': { value: 'FILE', summary: 'TLS server certificate of the controller with its intermediates' },
    'server-key': { value: 'FILE', summary: 'its key' },
    'signing-cert': { value: 'FILE', summary: 'authority of the controller that signs client certificates' },
    'signing-key': { value: 'FILE', summary: 'its key' },
    ca: { value: 'FILE', summary: 'trust bundle that the two lead to; with a FILE the one of --url' },
    url: { value: 'https://HOST:PORT', summary: 'for a FILE: the running controller that gets the network' },
    profile: { value: 'NAME', variable: true, summary: 'a login of portcullis login, instead of the environment' },
    'hold-second-factors': {
      summary: 'identities that had an authenticator app may do nothing but enroll one, until they have one again',
    },
    'dry-run': { summary: 'show what would be taken over, and write nothing' },
  },
  hasJson: true,
  details: `From a running controller everything is taken over with its id into a storage: entities, tags, states, policies,
certificates, enrollments. It logs in to it with PORTCULLIS_ADMIN_USERNAME and PORTCULLIS_ADMIN_PASSWORD, reads, and changes
nothing there. Served with the same certificates at the same address, no device enrolls again. In the end both are asked
alike. A FILE has neither ids nor certificates: its network is applied to a running controller, as a model file is.
docs/moving-from-openziti.md tells what moves and what does not.`,
  examples: [
    'portcullis import --from https://old.example.org:1280 --from-ca ca.pem --storage sqlite:network.sqlite --pki pki',
    'portcullis import --from export.json --url https://ctrl.example.org:1280 --ca ca.pem --dry-run',
  ],
  exitCodes: { 0: 'taken over, and both answer alike', [EXIT_NO]: 'something differs' },
  run: async ({ options, environment, terminal }) => {
    return importNetwork(options, environment, terminal)
  },
})

type ImportOptionName =
  | 'from'
  | 'from-ca'
  | 'storage'
  | 'table-prefix'
  | 'schema'
  | 'pki'
  | 'server-cert'
  | 'server-key'
  | 'signing-cert'
  | 'signing-key'
  | 'ca'
  | 'url'
  | 'profile'
  | 'dry-run'
  | 'hold-second-factors'

type Options = GivenOptions<ImportOptionName>

/** Takes over the network of `--from`. Throws {@link UsageError}. */
async function importNetwork(options: Options, environment: Environment, terminal: Terminal): Promise<Answer> {
  const from = options.typed('from')
  if (from === undefined) throw new UsageError('import needs --from, such as https://old.example.org:1280')
  const holds = options.flag('hold-second-factors')
  if (!from.startsWith('https://')) {
    if (!holds) return importFile(from, options, environment, terminal)
    throw new UsageError('--hold-second-factors goes with --from https://…: identities of a FILE have no way in yet')
  }
  const material = await readCertificates(options)
  const bundleFile = options.typed('from-ca')
  const bundle = bundleFile === undefined ? undefined : await readBundle(bundleFile)
  return withConnection({ options: sourceOptions(options, from), environment }, async ({ access: source }) => {
    const read = await readSource(source, (resource, count) => terminal.progress(`${count} ${resource}`))
    const entities = holds ? holdSecondFactors(read.entities) : read.entities
    const { notes } = read
    return withStore(options, material, async (operator) => {
      const dryRun = options.flag('dry-run')
      const onProgress = ({ done, total }: { readonly done: number; readonly total: number }) =>
        terminal.progress(`${done} of ${total}`)
      const report = await operator.importEntities(entities, { dryRun, onProgress })
      const checked = dryRun ? undefined : await checkMoved(source, entities, operator)
      terminal.endProgress()
      const certificate = certificateText(material, bundle)
      const isServed = bundle === undefined || leadsTo(material.serverCertPem, bundle)
      const left = [...notes, ...report.notes]
      const secondFactors = { lost: identitiesWithSecondFactor(read.entities).length, isHeld: holds }
      const differences = checked?.differences ?? []
      const value = { ...report, notes: left, differences, isServed, dryRun, secondFactors }
      const text = [
        ...countLines(report),
        ...left.map((note) => `not taken over: ${note}`),
        ...checkLines(checked),
        certificate,
        ...secondFactorLines(secondFactors),
      ].map(visibleLine)
      const isAlike = differences.length === 0 && isServed
      return { text: text.join('\n'), value, code: isAlike ? 0 : EXIT_NO }
    })
  })
}

/** The source has options of its own: `--url` and `--ca` name the controller that gets the network. */
function sourceOptions(options: Options, from: string) {
  const givenFor = (name: 'url' | 'ca' | 'profile') =>
    name === 'url' ? from : name === 'ca' ? options.typed('from-ca') : options.typed('profile')
  const settingOf = (name: 'url' | 'ca' | 'profile') => {
    const value = givenFor(name)
    return value === undefined ? undefined : { name: `--${name}`, value }
  }
  return {
    value: givenFor,
    typed: givenFor,
    setting: settingOf,
    settings: (name: 'url' | 'ca' | 'profile') => [settingOf(name)].filter((one) => one !== undefined),
    flag: () => false,
  }
}

async function readCertificates(options: Options): Promise<PkiMaterial> {
  const source = readPkiSource(options)
  try {
    return await readPkiFiles(source.kind === 'files' ? source.files : pkiFilesIn(source.directory))
  } catch (error) {
    if (!(error instanceof PkiFileError)) throw error
    throw new UsageError(`the certificates that the network will be served with are needed: ${error.message}`, {
      cause: error,
    })
  }
}

async function readBundle(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--from-ca: '${file}' cannot be read`, { cause: error })
  }
}

async function withStore<T>(options: Options, pki: PkiMaterial, work: (operator: Operator) => Promise<T>): Promise<T> {
  const setting = options.setting('storage') ?? { name: '--storage', value: DEFAULT_STORAGE }
  if (setting.value === 'memory') throw new UsageError(`${setting.name} takes sqlite:FILE or postgres://…`)
  const file = /^sqlite:(.*)$/s.exec(setting.value)?.[1]
  const tables = readTables(setting.value, {
    prefix: options.setting('table-prefix'),
    schema: options.setting('schema'),
  })
  // A database that is only looked at must not be made.
  const isMissing = options.flag('dry-run') && file !== undefined && !existsSync(file)
  const storage = isMissing ? memoryStorage() : (await openStorage(setting, tables)).storage
  const operator = await openOperator({ storage, pki })
  try {
    return await work(operator)
  } finally {
    await operator.close()
  }
}

function countLines({ counts }: ImportReport): readonly string[] {
  return counts.map(
    ({ resource, created, updated, unchanged }) =>
      `${resource}: ${created} created, ${updated} updated, ${unchanged} unchanged`,
  )
}

function checkLines(checked: { readonly differences: readonly string[]; readonly pairs: number } | undefined) {
  if (checked === undefined) return ['Nothing was written.']
  const { differences, pairs } = checked
  if (differences.length === 0) return [`Both answer alike: every entity, and the access of ${pairs} pairs.`]
  return differences.map((difference) => `differs: ${difference}`)
}

/** Last, because an operator must not miss that the network is less guarded than before. */
function secondFactorLines({ lost, isHeld }: { readonly lost: number; readonly isHeld: boolean }): readonly string[] {
  if (lost === 0) return []
  const who = lost === 1 ? '1 identity loses its second factor' : `${lost} identities lose their second factor`
  return [
    isHeld
      ? `${who}, and may do nothing but enroll one until they have one again.`
      : `warning: ${who}, and log in without one: --hold-second-factors holds them until they have one again.`,
  ]
}

function certificateText({ serverCertPem }: PkiMaterial, bundle: string | undefined): string {
  if (bundle === undefined) return 'Without --from-ca nobody knows whether devices will trust the server certificate.'
  return leadsTo(serverCertPem, bundle)
    ? 'The server certificate leads to the bundle that devices pin.'
    : 'differs: the server certificate does not lead to the bundle that devices pin: they will not connect'
}

/** Applies an export of `ziti ops export` to a running controller, as a model file is applied. */
async function importFile(
  file: string,
  options: GivenOptions<'url' | 'ca' | 'profile' | 'dry-run'>,
  environment: Environment,
  terminal: Terminal,
): Promise<Answer> {
  return withoutMistakes(async () => {
    const { model, notes, withSecondFactor } = await readExport(file)
    for (const note of notes) terminal.tell(`warning: ${note}`)
    return withConnection({ options, environment }, async ({ access: admin }) => {
      const plan = await planModel(admin, model)
      const { changes, unchanged, access } = plan
      if (!options.flag('dry-run')) {
        await applyPlan(admin, plan, ({ done, total }) => terminal.progress(`${done} of ${total}`))
        terminal.endProgress()
      }
      const lost = withSecondFactor === 1 ? '1 identity has' : `${withSecondFactor} identities have`
      const warning = `warning: ${lost} a second factor that is not in the file: nothing asks for one when they enroll again.`
      const text = withSecondFactor === 0 ? planText(plan) : `${planText(plan)}\n\n${warning}`
      return { text, value: { changes, unchanged, access, notes, secondFactors: { lost: withSecondFactor } } }
    })
  })
}
