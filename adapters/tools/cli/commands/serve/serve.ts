import { existsSync } from 'node:fs'
import { DAY_MS } from '../../../../../src/base/time.ts'
import { DEFAULT_MAX_CONNECTIONS, formatAddress } from '../../../../web/node/index.ts'
import { defineCommand, EXIT_NO } from '../../command-line/command.ts'
import type { Terminal } from '../../output.ts'
import { examineCertificates, type Finding } from '../examine-certificates.ts'
import { examineRuntime } from '../examine-runtime.ts'
import { withConfigFile } from './config-file.ts'
import { examineCertificateSource } from './gateway-certificates.ts'
import { SERVE_OPTIONS } from './option-declarations.ts'
import type { ServeOptions } from './serve-options.ts'
import { readServeOptions } from './serve-options.ts'
import { serveUntilStopped } from './serve-until-stopped.ts'
import { serveAsWorker, serveByWorkers, workerNumber } from './workers.ts'

/** `portcullis serve`. */
export const SERVE = defineCommand({
  options: SERVE_OPTIONS,
  details: `Serves a zero-trust network controller over HTTPS until SIGTERM or SIGINT, which let requests in flight finish within
five seconds. One line on standard output tells when it is ready; everything else goes to standard error.

Certificates of your own are PEM files, all five instead of --pki: --server-cert, --server-key, --signing-cert,
--signing-key and --ca. A server certificate that is renewed in its files, with its key, is put in use within seconds,
without a restart.

PORTCULLIS_ADMIN_USERNAME (4 to 100 characters) and PORTCULLIS_ADMIN_PASSWORD (5 to 100) in the environment create the
admin of an empty store; an admin that is there is never changed: portcullis admin reset-password does that.

--config reads options from a file, as listen: 0.0.0.0:1280; examples/deployment has its schema. An option wins over its
variable, and a variable over the file. --check tells whether all of that can be used: it listens nowhere and writes nothing.

With --workers each process counts limits and rates by itself, and one that ends is started again. Routers are served at a
port of each worker, --control-listen and those that follow, of which they are told; without it they are not served. With
--router each worker runs an edge router, at --router-listen and the ports that follow.`,
  examples: [
    'portcullis serve',
    'portcullis serve --listen 0.0.0.0:1280 --advertise ctrl.example.org:1280 --storage postgres://db/net',
  ],
  exitCodes: {
    0: 'stopped as it was asked to',
    130: 'a second SIGINT ended it at once',
    143: 'a second SIGTERM ended it at once',
    [EXIT_NO]: 'with --check: something cannot be used, or soon cannot',
  },
  run: async ({ options: given, environment, terminal }) => {
    const options = await withConfigFile(given, environment)
    const read = readServeOptions(options, environment)
    if (options.flag('check')) return checkOptions(read, terminal)
    if (read.workers === 1) return serveUntilStopped(read, terminal)
    const number = workerNumber(environment)
    if (number !== undefined) return serveAsWorker(read, number)
    return serveByWorkers(read.workers, read, terminal)
  },
})

const CERTIFICATE_SOON_MS = 30 * DAY_MS

/**
 * Reports whether a controller could be served with the options, which have been read by now: existing certificates, certificates that the
 * first start makes, and a capable runtime. Listens nowhere, writes nothing, and opens no storage. The exit code.
 */
async function checkOptions(options: ServeOptions, { print, style }: Terminal): Promise<number> {
  const { listen, advertise, pki, storage, workers } = options
  const isFirst = pki.kind === 'directory' && !existsSync(pki.directory)
  const certificates: readonly Finding[] = isFirst
    ? [{ level: 'ok', about: 'certificates', text: `they are made in ${pki.directory} at the first start` }]
    : await examineCertificates(pki, storage, { now: Date.now(), soonMs: CERTIFICATE_SOON_MS })
  const kind = /^(sqlite|postgres(?:ql)?|memory)/.exec(storage.value)?.[0] ?? storage.value
  const served = `listens on ${formatAddress(listen)}, advertised as ${formatAddress(advertise ?? listen)}`
  const findings: readonly Finding[] = [
    {
      level: 'ok',
      about: 'options',
      text: `${served}, storage ${kind}, ${workers === 1 ? 'one process' : `${workers} workers`}`,
    },
    ...(await examineRuntime(storage, options.limits.maxConnections ?? DEFAULT_MAX_CONNECTIONS)),
    ...(await examineCertificateSource(options.gateway?.certificate)),
    ...certificates,
  ]
  for (const { level, about, text } of findings) {
    const colour = ({ ok: 'green', warning: 'yellow', wrong: 'red' } as const)[level]
    print(`${style(colour, level.padEnd(7))}  ${about}: ${text}`)
  }
  return findings.every(({ level }) => level === 'ok') ? 0 : EXIT_NO
}
