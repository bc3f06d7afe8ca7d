import { CONNECTION_OPTIONS } from '../connection/connection-options.ts'

/** The options of `portcullis invite`. */
export const INVITE_OPTIONS = {
  ...CONNECTION_OPTIONS,
  router: { summary: 'invite an edge router instead of an identity' },
  attributes: { value: 'NAMES', summary: 'its role attributes, with commas between; added to those that it has' },
  type: {
    value: 'Device|User|Service',
    choices: ['Device', 'User', 'Service'],
    summary: 'of a new identity; default Device',
  },
  admin: { summary: 'make a new identity an admin' },
  tunneler: { summary: 'let the router host and dial for its own host' },
  out: { value: 'FILE', summary: 'where the enrollment token goes; default: standard output' },
  qr: { summary: 'show the token as a QR code, for a phone' },
  config: { value: 'FILE', summary: "where the router's configuration goes, in the form of deployed routers" },
  advertise: {
    value: 'HOST:PORT',
    summary: 'where clients reach the router, for --config; default: its name, port 3022',
  },
  force: { summary: 'write over files that are there' },
} as const
