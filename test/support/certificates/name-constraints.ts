import * as x509 from '@peculiar/x509'
import { element, sequence } from './der.ts'

export type SubtreeName =
  | { readonly dns: string }
  | { readonly uri: string }
  | { readonly email: string }
  /** Address octets, then as many mask octets. */
  | { readonly ip: readonly number[] }
  | { readonly directory: string }

const ascii = (tag: number, text: string) => element(tag, new TextEncoder().encode(text))

const baseOf = (name: SubtreeName): Uint8Array => {
  if ('dns' in name) return ascii(0x82, name.dns)
  if ('uri' in name) return ascii(0x86, name.uri)
  if ('email' in name) return ascii(0x81, name.email)
  if ('ip' in name) return element(0x87, Uint8Array.from(name.ip))
  return element(0xa4, new Uint8Array(new x509.Name(name.directory).toArrayBuffer()))
}

const constraints = (choice: 0 | 1, name: SubtreeName): x509.Extension =>
  new x509.Extension('2.5.29.30', true, sequence(element(0xa0 | choice, sequence(baseOf(name)))))

export const permittedNames = (name: SubtreeName): x509.Extension => constraints(0, name)
export const excludedNames = (name: SubtreeName): x509.Extension => constraints(1, name)
