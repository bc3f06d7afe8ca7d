/** A small network in which there is something to see in every view of the explorer. */
export const NETWORK = {
  identities: [
    { name: 'laptop', type: 'Device', isAdmin: false, roleAttributes: ['staff'], enrollment: { ott: true } },
    { name: 'phone', type: 'Device', isAdmin: false, roleAttributes: ['visitors'] },
    { name: 'server', type: 'Service', isAdmin: false, roleAttributes: ['hosts'] },
  ],
  services: [
    { name: 'payroll', roleAttributes: ['confidential'] },
    { name: 'wiki', roleAttributes: ['internal'] },
  ],
  postureChecks: [{ name: 'company-domain', typeId: 'DOMAIN', domains: ['corp.example'] }],
  servicePolicies: [
    {
      name: 'staff-payroll',
      type: 'Dial',
      semantic: 'AnyOf',
      identityRoles: ['#staff'],
      serviceRoles: ['#confidential'],
      postureCheckRoles: ['@company-domain'],
    },
    { name: 'staff-wiki', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#staff'], serviceRoles: ['@wiki'] },
    { name: 'hosts-all', type: 'Bind', semantic: 'AnyOf', identityRoles: ['#hosts'], serviceRoles: ['#all'] },
  ],
} as const
