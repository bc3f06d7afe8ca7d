import type { Authenticators } from './authenticators.ts'
import type { PostureChecks } from './posture-checks.ts'
import type { CreateForm, Flat, PatchForm, ReplaceForm, ShownForm } from './wire-types.ts'

type Having<T, K extends keyof T> = { readonly [P in K]-?: NonNullable<T[P]> }

type AnyAuthenticator = ShownForm<Authenticators['definition']>
type CertificateMember = Exclude<Authenticators['definition']['mayBeAbsent'][number], 'username'>
type CommonAuthenticator = Omit<AnyAuthenticator, CertificateMember | 'username' | 'method'>

/** A username and password, or a client certificate, by `method`. */
export type Authenticator = PasswordAuthenticator | CertificateAuthenticator
export type PasswordAuthenticator = Flat<
  CommonAuthenticator & { readonly method: 'updb' } & Having<AnyAuthenticator, 'username'>
>
/** `extendRequestedAt` is absent unless the holder is asked to extend the certificate. */
export type CertificateAuthenticator = Flat<
  CommonAuthenticator & { readonly method: 'cert' } & Having<
      AnyAuthenticator,
      Exclude<CertificateMember, 'extendRequestedAt'>
    > &
    Pick<AnyAuthenticator, 'extendRequestedAt'>
>

/** The members that a posture check of a type cannot be without. */
interface NeededMember {
  readonly OS: 'operatingSystems'
  readonly DOMAIN: 'domains'
  readonly MAC: 'macAddresses'
  readonly PROCESS: 'process'
  readonly PROCESS_MULTI: 'processes' | 'semantic'
  readonly MFA: never
}
type CheckType = keyof NeededMember
type MfaMember = 'timeoutSeconds' | 'promptOnUnlock' | 'promptOnWake' | 'ignoreLegacyEndpoints'
type TypedMember = NeededMember[CheckType] | MfaMember

type Shown = ShownForm<PostureChecks['definition']>
type Create = CreateForm<PostureChecks['definition']>
type Replace = ReplaceForm<PostureChecks['definition']>
type Patch = PatchForm<PostureChecks['definition']>

/** What only some checks of a form have, by the type of the check. */
type MfaOnly<T extends CheckType, Form> = T extends 'MFA' ? Form : unknown
type Common<Form> = Omit<Form, TypedMember | 'typeId'>
type WithType<T extends CheckType> = { readonly typeId: T }

/** A posture check of one type, with the members of that type alone. */
export type PostureCheckOf<T extends CheckType> = Flat<
  Common<Shown> & WithType<T> & Having<Shown, NeededMember[T]> & MfaOnly<T, Having<Shown, MfaMember>>
>
type CreateOf<T extends CheckType> = Flat<
  Common<Create> & WithType<T> & Having<Create, NeededMember[T]> & MfaOnly<T, Pick<Create, MfaMember>>
>
/** The type was settled at creation: it may be sent again. */
type ReplaceOf<T extends CheckType> = Flat<
  Common<Replace> & Partial<WithType<T>> & Having<Replace, NeededMember[T]> & MfaOnly<T, Pick<Replace, MfaMember>>
>
type PatchOf<T extends CheckType> = Flat<
  Common<Patch> & WithType<T> & Pick<Patch, NeededMember[T]> & MfaOnly<T, Pick<Patch, MfaMember>>
>

/** A rule on the state of an endpoint; `typeId` says which members it has. */
export type PostureCheck = { readonly [T in CheckType]: PostureCheckOf<T> }[CheckType]
export type PostureCheckCreate = { readonly [T in CheckType]: CreateOf<T> }[CheckType]
export type PostureCheckReplace = { readonly [T in CheckType]: ReplaceOf<T> }[CheckType]
export type PostureCheckPatch = { readonly [T in CheckType]: PatchOf<T> }[CheckType]
