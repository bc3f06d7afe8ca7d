import { defineCommand } from '../../command-line/command.ts'
import { SERVE_OPTIONS } from './option-declarations.ts'

/** `portcullis serve`. */
export const SERVE = defineCommand({
  name: 'serve',
  summary: 'serve a controller over HTTPS until SIGTERM or SIGINT',
  options: SERVE_OPTIONS,
  details: `Serves a zero-trust network controller over HTTPS until SIGTERM or SIGINT, which let requests in flight finish within
five seconds. One line on standard output tells when it is ready; everything else goes to standard error.

Certificates of your own are PEM files, all five instead of --pki: --server-cert, --server-key, --signing-cert,
--signing-key and --ca. A server certificate that is renewed in its files, with its key, is put in use within seconds,
without a restart.

PORTCULLIS_ADMIN_USERNAME (4 to 100 characters) and PORTCULLIS_ADMIN_PASSWORD (5 to 100) in the environment create the
admin of an empty store; an admin that is there is never changed: portcullis admin reset-password does that.

With --workers each process counts limits and rates by itself, and one that ends is started again. Routers are served at a
port of each worker, --control-listen and those that follow, of which they are told; without it they are not served.`,
  examples: [
    'portcullis serve',
    'portcullis serve --listen 0.0.0.0:1280 --advertise ctrl.example.org:1280 --storage postgres://db/net',
  ],
  exitCodes: {
    0: 'stopped as it was asked to',
    130: 'a second SIGINT ended it at once',
    143: 'a second SIGTERM ended it at once',
  },
  run: async ({ options, environment, terminal }) => {
    const { readServeOptions } = await import('./serve-options.ts')
    const read = readServeOptions(options, environment)
    if (read.workers === 1) return (await import('./serve-until-stopped.ts')).serveUntilStopped(read, terminal)
    const { serveAsWorker, workerNumber } = await import('./workers.ts')
    const number = workerNumber(environment)
    if (number !== undefined) return serveAsWorker(read, number)
    return (await import('./workers.ts')).serveByWorkers(read.workers, terminal)
  },
})
