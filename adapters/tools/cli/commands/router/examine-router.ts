import { X509Certificate } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { visibleLine } from '../../../../../src/base/text.ts'
import { DAY_MS } from '../../../../../src/base/time.ts'
import { probeController } from '../../../../network/router/index.ts'
import { type Answer, type CommandCall, defineCommand, EXIT_NO } from '../../command-line/command.ts'
import { ROUTER_FILE } from './router.ts'
import { DEFAULT_ROUTER_FILE, type RouterFile, readRouterFile } from './router-file.ts'

/** `portcullis router doctor`. */
export const ROUTER_DOCTOR = defineCommand({
  options: { file: ROUTER_FILE },
  hasJson: true,
  details: `Reads its file, looks at key and certificates, and introduces itself to each of its controllers as the router would. Do
not ask while the router runs: a controller lets one of two in.`,
  exitCodes: { 0: 'nothing is wrong; there may be warnings', [EXIT_NO]: 'something is wrong' },
  run: examineRouter,
})

/** Something that was looked at. */
interface RouterFinding {
  readonly level: 'ok' | 'warning' | 'wrong'
  readonly about: 'file' | 'certificates' | 'addresses' | 'controllers'
  readonly text: string
}

const CERTIFICATE_SOON_MS = 7 * DAY_MS
const OTHERS_MAY_READ = 0o077

/** Looks for problems of an enrolled router. Throws a usage error when its file is invalid. */
export async function examineRouter({ options, terminal }: CommandCall<'file'>): Promise<Answer> {
  const path = options.value('file') ?? DEFAULT_ROUTER_FILE
  const file = await readRouterFile(path)
  const { mode } = await stat(path)
  const findings: RouterFinding[] = [
    ...((mode & OTHERS_MAY_READ) === 0
      ? []
      : [{ level: 'warning', about: 'file', text: `${path} holds a key, and others may read it: chmod 600` } as const]),
    ...examineCertificates(file, Date.now()),
    ...examineAddresses(file),
    ...(await examineControllers(file)),
  ]
  const colours = { ok: 'green', warning: 'yellow', wrong: 'red' } as const
  const text = findings
    .map(
      (found) =>
        `${terminal.style(colours[found.level], found.level.padEnd(7))}  ${found.about}: ${visibleLine(found.text)}`,
    )
    .join('\n')
  return { text, value: findings, code: findings.some(({ level }) => level === 'wrong') ? EXIT_NO : 0 }
}

function examineCertificates({ identity }: RouterFile, now: number): readonly RouterFinding[] {
  const about = 'certificates'
  const findings = (['clientCert', 'serverCert'] as const).flatMap((name): readonly RouterFinding[] => {
    let certificate: X509Certificate
    try {
      certificate = new X509Certificate(identity[name])
    } catch {
      return [{ level: 'wrong', about, text: `${name} is no certificate` }]
    }
    const end = Date.parse(certificate.validTo)
    const day = new Date(end).toISOString().slice(0, 10)
    if (end <= now) return [{ level: 'wrong', about, text: `${name} expired on ${day}: enroll the router again` }]
    if (Date.parse(certificate.validFrom) > now) {
      return [{ level: 'wrong', about, text: `${name} is not valid yet: is the clock right?` }]
    }
    if (!certificate.subject.includes(`CN=${identity.id}`)) {
      return [{ level: 'wrong', about, text: `${name} is not of the router ${identity.id}` }]
    }
    return end - now < CERTIFICATE_SOON_MS
      ? [{ level: 'warning', about, text: `${name} expires on ${day}: the router renews it while it runs` }]
      : []
  })
  return findings.length > 0 ? findings : [{ level: 'ok', about, text: 'they are valid, and for long enough' }]
}

function examineAddresses({ identity, listen, advertise }: RouterFile): readonly RouterFinding[] {
  const about = 'addresses'
  const address = advertise ?? listen
  if (address === undefined) return [{ level: 'ok', about, text: 'it listens nowhere: it dials other routers' }]
  const host = address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
  const certificate = new X509Certificate(identity.serverCert)
  const named = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)
  const isNamed = named !== undefined
  if (isNamed) return [{ level: 'ok', about, text: `others reach it at ${address}, which its certificate names` }]
  return [
    { level: 'wrong', about, text: `its certificate does not name ${host}, so that nobody connects: enroll it again` },
  ]
}

async function examineControllers({ identity }: RouterFile): Promise<readonly RouterFinding[]> {
  const about = 'controllers'
  return Promise.all(
    identity.controllers.map(async (address): Promise<RouterFinding> => {
      try {
        return {
          level: 'ok',
          about,
          text: `${address} lets it in as controller ${await probeController(address, identity)}`,
        }
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        // A controller admits one connection of a router: the running router has it.
        if (why.includes('already-connected')) {
          return { level: 'ok', about, text: `${address} has it connected already: it runs` }
        }
        return { level: 'wrong', about, text: `${address}: ${why}` }
      }
    }),
  )
}
