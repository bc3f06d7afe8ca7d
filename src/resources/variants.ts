import type { PostureCheckTypeId } from '../access/posture/checks/index.ts'
import type { PostureChecks } from '../access/posture/posture-check.resource.ts'
import type { POSTURE_CHECK_FIELDS } from '../access/posture/posture-check-fields.resource.ts'
import type { Authenticators } from '../credentials/authenticator.resource.ts'
import type { CreateForm, Flat, PatchForm, ReplaceForm, ShownForm, Wire } from './wire-types.ts'

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

type CheckType = PostureCheckTypeId
type MembersOf<T extends CheckType> = (typeof POSTURE_CHECK_FIELDS)[T]['members']
type MemberOf<T extends CheckType> = keyof MembersOf<T>
/** The members that a posture check of a type cannot be without: those for which no default can stand. */
type NeededMember<T extends CheckType> = {
  readonly [M in MemberOf<T>]: null extends Wire<MembersOf<T>[M]> ? M : never
}[MemberOf<T>]
type OtherMember<T extends CheckType> = Exclude<MemberOf<T>, NeededMember<T>>
type TypedMember = { readonly [T in CheckType]: MemberOf<T> }[CheckType]

type Shown = ShownForm<PostureChecks['definition']>
type Create = CreateForm<PostureChecks['definition']>
type Replace = ReplaceForm<PostureChecks['definition']>
type Patch = PatchForm<PostureChecks['definition']>

type Common<Form> = Omit<Form, TypedMember | 'typeId'>
type WithType<T extends CheckType> = { readonly typeId: T }
type Needed<Form, M> = Having<Form, Extract<M, keyof Form>>
type Given<Form, M> = Pick<Form, Extract<M, keyof Form>>

type ShownOf<T extends CheckType> = Flat<Common<Shown> & WithType<T> & Needed<Shown, MemberOf<T>>>
type CreateOf<T extends CheckType> = Flat<
  Common<Create> & WithType<T> & Needed<Create, NeededMember<T>> & Given<Create, OtherMember<T>>
>
/** The type was settled at creation: it may be sent again. */
type ReplaceOf<T extends CheckType> = Flat<
  Common<Replace> & Partial<WithType<T>> & Needed<Replace, NeededMember<T>> & Given<Replace, OtherMember<T>>
>
type PatchOf<T extends CheckType> = Flat<Common<Patch> & WithType<T> & Given<Patch, MemberOf<T>>>

/** A rule on the state of an endpoint; `typeId` says which members it has. */
export type PostureCheck = { readonly [T in CheckType]: ShownOf<T> }[CheckType]
/** A posture check of one type, with the members of that type alone. */
export type PostureCheckOf<T extends PostureCheck['typeId']> = Extract<PostureCheck, { readonly typeId: T }>
export type PostureCheckCreate = { readonly [T in CheckType]: CreateOf<T> }[CheckType]
export type PostureCheckReplace = { readonly [T in CheckType]: ReplaceOf<T> }[CheckType]
export type PostureCheckPatch = { readonly [T in CheckType]: PatchOf<T> }[CheckType]
