import type { PkiFiles } from '../../../node/index.ts'
import type { GivenOptions } from '../../command-line/options.ts'
import { UsageError } from '../../settings/usage-error.ts'

/** Where the certificates and keys come from. */
export type PkiSource =
  | { readonly kind: 'directory'; readonly directory: string }
  | { readonly kind: 'files'; readonly files: PkiFiles }

const DEFAULT_DIRECTORY = '.portcullis/pki'

const FILE_OPTIONS = ['server-cert', 'server-key', 'ca', 'signing-cert', 'signing-key'] as const

type PkiOption = 'pki' | (typeof FILE_OPTIONS)[number]

/**
 * The files that the options name, else the directory. Throws {@link UsageError} when some but not all files are named, or
 * a directory too.
 */
export function readPkiSource({ typed, value }: Pick<GivenOptions<PkiOption>, 'typed' | 'value'>): PkiSource {
  const [first] = FILE_OPTIONS.filter((option) => typed(option) !== undefined)
  if (first === undefined) return { kind: 'directory', directory: value('pki') ?? DEFAULT_DIRECTORY }
  // A directory in the environment is only a default.
  if (typed('pki') !== undefined) throw new UsageError(`--pki and --${first} exclude each other`)
  const missing = FILE_OPTIONS.filter((option) => typed(option) === undefined)
  const file = (option: (typeof FILE_OPTIONS)[number]): string => {
    const path = typed(option)
    if (path === undefined) throw new UsageError(`--${first} needs --${missing.join(', --')} too`)
    return path
  }
  return {
    kind: 'files',
    files: {
      caPem: file('ca'),
      signingCertPem: file('signing-cert'),
      signingKeyPem: file('signing-key'),
      serverCertPem: file('server-cert'),
      serverKeyPem: file('server-key'),
    },
  }
}
