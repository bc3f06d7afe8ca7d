import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/support/free-port.ts'
import { issue } from '../../test/support/https-certificates.ts'

/** The program as packages of Linux install it. */
const PROGRAM = '/usr/sbin/nginx'

/** Whether this machine has nginx. */
export function hasNginx(): boolean {
  return existsSync(PROGRAM)
}

/** A running nginx. */
export interface NginxServer {
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

/** Runs nginx in one process: it takes TLS, asks the app about the cookie of each request (`auth_request`), and leads it to the app. */
export async function startNginx(app: number): Promise<NginxServer> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-nginx-'))
  const { key, cert } = await issue('apps.test')
  const port = await freePort()
  await mkdir(join(folder, 'logs'))
  await writeFile(join(folder, 'key.pem'), key, { mode: 0o600 })
  await writeFile(join(folder, 'cert.pem'), cert)
  await writeFile(join(folder, 'nginx.conf'), configOf(port, app))
  const nginx = spawn(PROGRAM, ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await untilListens(nginx, port)
  return {
    port,
    pid: nginx.pid ?? 0,
    stop: async () => {
      nginx.kill()
      await once(nginx, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function configOf(port: number, app: number): string {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`)
  return `
daemon off;
master_process off;
pid nginx.pid;
events { worker_connections 512; }
http {
  access_log off;
  ${paths.join('\n  ')}
  upstream app { server 127.0.0.1:${app}; keepalive 64; }
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate cert.pem;
    ssl_certificate_key key.pem;
    keepalive_requests 1000000;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    location / { auth_request /auth; proxy_pass http://app; }
    location = /auth {
      internal;
      proxy_pass http://app;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
    }
  }
}
`
}

async function untilListens(nginx: ChildProcess, port: number): Promise<void> {
  for (;;) {
    if (nginx.exitCode !== null) throw new Error('nginx did not start')
    const socket = connect({ port, host: '127.0.0.1' })
    const isThere = await new Promise((resolve) =>
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false)),
    )
    socket.destroy()
    if (isThere) return
    await sleep(50)
  }
}
