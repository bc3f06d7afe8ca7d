import { defineCommand } from '../../command-line/command.ts'

const IDENTITY = {
  value: 'FILE',
  variable: true,
  summary: 'the identity that dials or hosts: a file of portcullis tunnel enroll, or of another program of the field',
} as const

/** `portcullis tunnel enroll`. */
export const TUNNEL_ENROLL = defineCommand({
  name: 'tunnel enroll',
  summary: 'make an identity file of an enrollment token',
  operands: 'TOKEN_FILE',
  options: { out: { value: 'FILE', summary: 'the identity file; default: the token file, with the ending .json' } },
  details: `Reads the token of an identity, of Portcullis or of a deployed controller, and writes the file for its owner alone. A token is
good for one enrollment.`,
  examples: ['portcullis tunnel enroll laptop.jwt', 'portcullis tunnel enroll laptop.jwt --out /etc/laptop.json'],
  run: async (call) => {
    const { enrollByFile } = await import('./enroll-by-file.ts')
    return enrollByFile(call)
  },
})

/** `portcullis tunnel proxy`. */
export const TUNNEL_PROXY = defineCommand({
  name: 'tunnel proxy',
  summary: 'reach services through ports of this machine',
  operands: 'SERVICE:PORT...',
  options: {
    identity: IDENTITY,
    listen: { value: 'HOST', summary: 'the address of this machine that the ports are on; default: 127.0.0.1' },
  },
  details: `Each connection to a port is one to its service, for as long as policies let the identity dial it. Whoever can connect to the
ports acts as the identity: an address that other machines reach opens the services to them.`,
  examples: ['portcullis tunnel proxy --identity laptop.json payroll:8080', 'curl http://127.0.0.1:8080/'],
  run: async (call) => {
    const { proxyServices } = await import('./carry.ts')
    return proxyServices(call)
  },
})

/** `portcullis tunnel host`. */
export const TUNNEL_HOST = defineCommand({
  name: 'tunnel host',
  summary: 'host services that programs on this machine or near it answer',
  operands: 'SERVICE=HOST:PORT...',
  options: { identity: IDENTITY },
  details: `Each connection of a caller is one to the address of its service. The program behind it needs no port that others reach.`,
  examples: ['portcullis tunnel host --identity box.json payroll=127.0.0.1:3000'],
  run: async (call) => {
    const { hostAddresses } = await import('./carry.ts')
    return hostAddresses(call)
  },
})
