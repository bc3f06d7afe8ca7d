import type { EndpointFacts } from '../../../src/policy.ts'
import { BOOL, field, INTEGER, type MessageOf, message, optional, repeated, TEXT } from './protobuf/index.ts'

const Moment = message({ time: optional(1, message({ seconds: field(1, INTEGER) })) })

const Report = message({
  macs: optional(1, message({ addresses: repeated(1, TEXT) })),
  os: optional(2, message({ type: field(1, TEXT), version: field(2, TEXT), build: field(3, TEXT) })),
  processList: optional(
    3,
    message({
      processes: repeated(
        1,
        message({
          path: field(1, TEXT),
          isRunning: field(2, BOOL),
          hash: field(3, TEXT),
          signerFingerprints: repeated(4, TEXT),
        }),
      ),
    }),
  ),
  domain: optional(4, message({ name: field(1, TEXT) })),
  woken: optional(5, Moment),
  unlocked: optional(6, Moment),
  totpToken: optional(8, message({ token: field(1, TEXT) })),
})

/** The message by which an endpoint reports its posture to a router. */
export const PostureReports = message({ responses: repeated(1, Report) })

/** One thing that an endpoint reports. */
export interface EndpointReport {
  readonly facts: EndpointFacts
  /** When it was unlocked or woken, epoch ms; undefined where it does not say. */
  readonly at: number | undefined
  /** The token by which a controller confirms a second factor. */
  readonly totpToken: string | undefined
}

/** Reads a report of an endpoint. Throws for invalid bytes. */
export function readReports(bytes: Uint8Array): readonly EndpointReport[] {
  return PostureReports.decode(bytes).responses.map((report) => ({
    facts: factsIn(report),
    at: millisecondsOf(report.woken ?? report.unlocked),
    totpToken: report.totpToken?.token,
  }))
}

/** Writes the facts of an endpoint at `now` (epoch ms), for a router that judges them. */
export function writeReports(facts: EndpointFacts, now: number): Uint8Array {
  const { macAddresses: addresses, os, processes, domain, isWoken, isUnlocked } = facts
  const moment = { time: { seconds: Math.floor(now / 1000) } }
  const report: MessageOf<typeof Report> = {
    macs: addresses && { addresses },
    os: os && { ...os, build: os.build ?? '' },
    processList: processes && {
      processes: processes.map(({ path, isRunning = true, hash = '', signerFingerprints = [] }) => {
        return { path, isRunning, hash, signerFingerprints }
      }),
    },
    domain: domain === undefined ? undefined : { name: domain },
    woken: isWoken ? moment : undefined,
    unlocked: isUnlocked ? moment : undefined,
    totpToken: undefined,
  }
  // Routers read one member of each report.
  const members = Object.entries(report).filter(([, value]) => value !== undefined)
  return PostureReports.encode({ responses: members.map(([name, value]) => ({ ...NOTHING, [name]: value })) })
}

const NOTHING = Report.blank()

function factsIn({ macs, os, processList, domain, woken, unlocked }: MessageOf<typeof Report>): EndpointFacts {
  return {
    ...(macs && { macAddresses: macs.addresses }),
    ...(os && { os }),
    ...(processList && { processes: processList.processes }),
    ...(domain && { domain: domain.name }),
    ...(woken && { isWoken: true }),
    ...(unlocked && { isUnlocked: true }),
  }
}

function millisecondsOf(moment: MessageOf<typeof Moment> | undefined): number | undefined {
  return moment?.time === undefined ? undefined : moment.time.seconds * 1000
}
