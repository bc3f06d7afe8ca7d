import * as x509 from '@peculiar/x509'
import { ascii, der, explicit, sequence } from '../../../src/platform/x509/der-writer.ts'
import { oids } from '../../../src/platform/x509/oids.ts'

export type SubtreeName =
  | { readonly dns: string }
  | { readonly uri: string }
  | { readonly email: string }
  /** Address octets, then as many mask octets. */
  | { readonly ip: readonly number[] }
  | { readonly directory: string }

const baseOf = (name: SubtreeName): Uint8Array => {
  if ('dns' in name) return ascii(name.dns, 0x82)
  if ('uri' in name) return ascii(name.uri, 0x86)
  if ('email' in name) return ascii(name.email, 0x81)
  if ('ip' in name) return der(0x87, Uint8Array.from(name.ip))
  return explicit(4, new Uint8Array(new x509.Name(name.directory).toArrayBuffer()))
}

const constraints = (choice: 0 | 1, name: SubtreeName): x509.Extension =>
  new x509.Extension(oids.nameConstraints, true, sequence(explicit(choice, sequence(baseOf(name)))))

export const permittedNames = (name: SubtreeName): x509.Extension => constraints(0, name)
export const excludedNames = (name: SubtreeName): x509.Extension => constraints(1, name)
