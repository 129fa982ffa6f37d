/** A hash of an invented password, and the program that made it. */
interface Vector {
  readonly madeBy: string
  readonly password: string
  readonly hash: string
  /** What that program gave to bcrypt. */
  readonly bcryptOf?: string
}

/** By the names of the verifiers. */
export const vectors = {
  phpass: [
    {
      madeBy: 'passlib 1.7.4',
      password: 'an old phpass password 0',
      hash: '$P$6P5PbN.WzTETemULdr/xQJ/9Sj.OzE.',
    },
    {
      madeBy: 'passlib 1.7.4',
      password: 'an old phpass password 1 – ünïcode ✓',
      hash: '$H$6RVtzm8e58eXBpxUGeQip.saHzJWr0/',
    },
    {
      madeBy: 'passlib 1.7.4',
      password:
        'an old phpass password 2 long long long long long long long long long long long long',
      hash: '$P$61ixxeNeG//AQfI4ZW0reIF9yCjaj1/',
    },
    {
      madeBy: 'passlib 1.7.4',
      password: 'an old phpass password 3 "quotes" & \'more\'',
      hash: '$H$6n/e0k4OfyFSiYrLVEGF3HWfzJqQzH0',
    },
    {
      madeBy: 'passlib 1.7.4',
      password: 'an old phpass password 4',
      hash: '$P$6lyU3NiD7R2SOZ8GZaD0bvTyqE271c0',
    },
    {
      madeBy: 'passlib 1.7.4',
      password: 'an old phpass password 5 – ünïcode ✓',
      hash: '$H$6ydSzYyMM4K2yWFZP1NAS09E213cqG.',
    },
    {
      madeBy: 'passlib 1.7.4',
      password:
        'an old phpass password 6 long long long long long long long long long long long long',
      hash: '$P$BakCDJnSd9xlIRg.xJ9Rh3EP4y1rnC/',
    },
    {
      madeBy: 'passlib 1.7.4',
      password: 'an old phpass password 7 "quotes" & \'more\'',
      hash: '$H$B5eiwPwjDsDBG8h/ivG3F0FKoVuI.M/',
    },
  ],
  wordpress: [
    {
      madeBy: 'password_hash of PHP 8.2.36, as wp_hash_password of WordPress 6.8 calls it',
      password: 'an old wordpress password 0',
      hash: '$wp$2y$06$346w53oclcZcNC8mfnZAzOEioESvfij4L1nNjXYOOLMAoTAyL3Tba',
      bcryptOf: 'mPm69orcGT7fYdyl1Yk2B/CkMcr4IBqpaOCJ55BRzNAllV94TKNn9rDeBUnNIBED',
    },
    {
      madeBy: 'password_hash of PHP 8.2.36, as wp_hash_password of WordPress 6.8 calls it',
      password: 'an old wordpress password 1 – ünïcode ✓',
      hash: '$wp$2y$06$I5k96rSiqMV6CGsfDVCssu1EPImkx9cY9nZg8yvIkfbSRz668S0Vq',
      bcryptOf: '2ckfwMZ/aRR1A7bVe8DPM7iDMMH6fJnYGt/h1pMYsTahzMQd5lKpXNvk5XCHxUB8',
    },
    {
      madeBy: 'password_hash of PHP 8.2.36, as wp_hash_password of WordPress 6.8 calls it',
      password:
        'an old wordpress password 2 long long long long long long long long long long long long',
      hash: '$wp$2y$06$SyqBa3tKMQdzGKJzrGifzux2ak4XF.mcbHkHQJGa5LXSyRf03XsZa',
      bcryptOf: '5d+Qd8+4cQQITPkF+RNcYBv6C6BR1EEIVb7aG+ybzuCXFCNGeh78xTYj+Y35D48C',
    },
    {
      madeBy: 'password_hash of PHP 8.2.36, as wp_hash_password of WordPress 6.8 calls it',
      password: 'an old wordpress password 3 "quotes" & \'more\'',
      hash: '$wp$2y$06$uCiqDyFHDeEWYg60/mzYMuph.j8fX/sB5GVVbkrAtNs9fWW9aahvG',
      bcryptOf: 'Xio/2q7kGVj5WLCEaTew7fjPpB2ATEKoKj5HL0J3W0hgdLulpOFV6Bqf9RBcyV2H',
    },
    {
      madeBy: 'password_hash of PHP 8.2.36, as wp_hash_password of WordPress 6.8 calls it',
      password: 'an old wordpress password 4',
      hash: '$wp$2y$06$Sh9KtmcCxrzY8efElviO0uOOhEGG.G1WyJ./9Vy5d21c0iOyBmXpO',
      bcryptOf: 'XGy7pU1Z8r00Ixt+ewij4O5EgQkMpozSz5t6fIq8zhBAjDiUk0+FijsWeCui1O9K',
    },
    {
      madeBy: 'password_hash of PHP 8.2.36, as wp_hash_password of WordPress 6.8 calls it',
      password: 'an old wordpress password 5 – ünïcode ✓',
      hash: '$wp$2y$06$EDhXgcWJHCK/K2S9YuAkausjSiHBtjKW1MN.1kQb1FapD2Jd7Ueam',
      bcryptOf: 'YqDaKI4TBXd4+yAm0hag0GOzl0qjLJGASjddzKj2e/N5toD/yLCO9pcM+h5yUmtD',
    },
    {
      madeBy: 'password_hash of PHP 8.2.36, as wp_hash_password of WordPress 6.8 calls it',
      password:
        'an old wordpress password 6 long long long long long long long long long long long long',
      hash: '$wp$2y$10$x0KGitkc4rQTRdyjcqNZtudDH9ptdYKaOJW9bVoeWinjx3yHbwpdy',
      bcryptOf: '8WzF+Lr0CQ1GI1SQCkUJe4qQ0ZRwaiTfBa+Uakpjt1iFxlxoZPDgvAfomd4wMM3Z',
    },
    {
      madeBy: 'password_hash of PHP 8.2.36, as wp_hash_password of WordPress 6.8 calls it',
      password: 'an old wordpress password 7 "quotes" & \'more\'',
      hash: '$wp$2y$10$l06uD2g8gk.CzMTG1OOuCej.CWKk/xU86dlfhJCt45JI1I8TiUm6y',
      bcryptOf: '+liVU85LcCM83F13+bDXp8mLQZkOaiXbVqbIU69gtvf3mBXsVbf8zIO7NaUXHe2S',
    },
  ],
  djangoBcryptSha256: [
    {
      madeBy: 'Django 5.2.17',
      password: 'an old djangoBcryptSha256 password 0',
      hash: 'bcrypt_sha256$$2b$06$aWX3p6tvaa2RA8kAZdRbTeThtzmD2xrMtZu9gK448cekf01rFwE/2',
      bcryptOf: '51eaeb4f22fadb2b58605b997d3029390267b8ccdf46dff629edb60749e1d15f',
    },
    {
      madeBy: 'Django 5.2.17',
      password: 'an old djangoBcryptSha256 password 1 – ünïcode ✓',
      hash: 'bcrypt_sha256$$2b$06$tRZxdcuISXx8QpS.2nS/KerwzhFZ8DbOENHhI/hOpA/MImp7PWDI2',
      bcryptOf: 'bc5bdbecdc0a7886874ec402077c6e1b56afc00414387448061e08839c060dbd',
    },
    {
      madeBy: 'Django 5.2.17',
      password:
        'an old djangoBcryptSha256 password 2 long long long long long long long long long long long long',
      hash: 'bcrypt_sha256$$2b$06$nzTP1Dvpz.QLJXzsKAnVqu93knWnQsAu4ymvvTcwV7ukAApNaAWdG',
      bcryptOf: '8a2d4ed587674983c21e9e43130aea9e3df2fb86628abf46dd9848183468375d',
    },
    {
      madeBy: 'Django 5.2.17',
      password: 'an old djangoBcryptSha256 password 3 "quotes" & \'more\'',
      hash: 'bcrypt_sha256$$2b$06$ffXdBEgVN5/wGrK.r3sJueVNI4IlHHYp9csiHAxm6jyTY6HPhEdP6',
      bcryptOf: '7179b81becdb0b7a43fb1269ddba74cd2c929d75535e1ca9156eb164e62fb81d',
    },
    {
      madeBy: 'Django 5.2.17',
      password: 'an old djangoBcryptSha256 password 4',
      hash: 'bcrypt_sha256$$2b$06$mxguB/Xb.7hL/j9onpLsIe2n3Cl4bpv1/kybXoy.Ao0qrgrFqmBTW',
      bcryptOf: '7a60a70c66fbcdb5a12f2824882044efe3cea9f12e348b21b32c32cb08d987cc',
    },
    {
      madeBy: 'Django 5.2.17',
      password: 'an old djangoBcryptSha256 password 5 – ünïcode ✓',
      hash: 'bcrypt_sha256$$2b$06$4d.AzOdFcibGkLEapeMkYujfKBb4afI/R2Ax/mr1MDKp9FYLAA09S',
      bcryptOf: 'd14cf016919d40b4252989ceeda10a96f998acb791ac9d35b8f7406ea02e91a3',
    },
    {
      madeBy: 'Django 5.2.17',
      password:
        'an old djangoBcryptSha256 password 6 long long long long long long long long long long long long',
      hash: 'bcrypt_sha256$$2b$10$vd5csB74XYTni.iwU9cDgOyQ5PsX8z3yxDiTLF5yremc9MxHZ5JMq',
      bcryptOf: '4b0f21a1c6f7174b1accd188ca6ddfc72d56383d4f1f5e6bc1375fc1b525078a',
    },
    {
      madeBy: 'Django 5.2.17',
      password: 'an old djangoBcryptSha256 password 7 "quotes" & \'more\'',
      hash: 'bcrypt_sha256$$2b$10$JgCQkmU41PHAtNid4YJJRu/mHKfVWHamQwAgVicHBdb94pg7SH6Ku',
      bcryptOf: '03a7434d426d43090efce71f8457014be2b1957520cb2599d9c0b167f27f95e8',
    },
  ],
  aspnetIdentity: [
    {
      madeBy: 'hashlib of Python 3.11, by the layout of PasswordHasher',
      password: 'an old aspnetIdentity password 4',
      hash: 'AQAAAAAAACcQAAAAEDqJarwGrD81zoCrZRri3E3TZdrX4BddZnmxsVHVQWvrRqCFSR8hgNaxXXsBxbK6AQ==',
    },
    {
      madeBy: 'hashlib of Python 3.11, by the layout of PasswordHasher',
      password: 'an old aspnetIdentity password 5 – ünïcode ✓',
      hash: 'AQAAAAAAACcQAAAAGO9BsbFG1wUMJbuxZPBnflGD0SnglFThaE5cGY67XoxYe0ZjZvLmrs/AaBWkehsKQsDcSbH4soKZ',
    },
    {
      madeBy: 'hashlib of Python 3.11, by the layout of PasswordHasher',
      password:
        'an old aspnetIdentity password 6 long long long long long long long long long long long long',
      hash: 'AQAAAAIAAYagAAAAEN9sJdkk/blzNmEREdftox4/EmG+OupOHwwupLbTKAz5V/7yKW+tZ+c4nstdHY4HVQ==',
    },
    {
      madeBy: 'hashlib of Python 3.11, by the layout of PasswordHasher',
      password: 'an old aspnetIdentity password 7 "quotes" & \'more\'',
      hash: 'AQAAAAIAAYagAAAAGKXEJrphGAeMftUhTPawQbLgebIVDuEnvDWgd9wsYVmsVKGe7+Ib8cypDmbJ8hlc9f7aD1bKDupg',
    },
    {
      madeBy: 'aspnet-identity-pw 1.0.2 (npm)',
      password: 'an old aspnetIdentity password 0',
      hash: 'AF1KKUdKjwjL59gPe7T7VCPF3+ojofphBD95GD/6aHXqi3J1BK8qB21/4RafKh7l8A==',
    },
    {
      madeBy: 'aspnet-identity-pw 1.0.2 (npm)',
      password: 'an old aspnetIdentity password 1 – ünïcode ✓',
      hash: 'ACEh8Kg6YAhtRnPh2ALWZK2cQC3KaYmC2DH/4IEGeluELJL3lgNA6RWNsLmVElgK7g==',
    },
    {
      madeBy: 'aspnetcore-identity-password-hasher 1.0.1 (npm)',
      password:
        'an old aspnetIdentity password 2 long long long long long long long long long long long long',
      hash: 'AQAAAAEAACcQAAAAEOn7pNaQ35Js8dAfnsTeF2DuaQ8WwxPl9rpw7+eg8yrE8qT/S8lwUoogOLVG46uygA==',
    },
    {
      madeBy: 'aspnetcore-identity-password-hasher 1.0.1 (npm)',
      password: 'an old aspnetIdentity password 3 "quotes" & \'more\'',
      hash: 'AQAAAAEAACcQAAAAENSd2aVgz5+FRZq0VwsnKR71446tW8Px5GdYpd6mGU8+nWoh5UvAr2gq32WSYGhj7A==',
    },
  ],
  springPbkdf2: [
    {
      madeBy: 'spring-security-crypto 5.7.11',
      password: 'an old springPbkdf2 password 0',
      hash: '{pbkdf2}9798581fa6e132b9f3cb0f9e8137b6d167b2b20577a74a37d0ad3faaab8bb885e25a378274c75446',
    },
    {
      madeBy: 'spring-security-crypto 5.7.11',
      password: 'an old springPbkdf2 password 1 – ünïcode ✓',
      hash: '{pbkdf2}86dcceee5d2d0ef638bf88f6c765833af31a2cbe0363de92f6b1a53606e68b93bb22b4d6913b7209',
    },
    {
      madeBy: 'spring-security-crypto 5.7.11',
      password:
        'an old springPbkdf2 password 2 long long long long long long long long long long long long',
      hash: '{pbkdf2}773637f666ce5759e854dfed233cae3861162be30bbfc56ab9de185db4905aa2a6dd056fbd6e982f',
    },
    {
      madeBy: 'spring-security-crypto 5.7.11',
      password: 'an old springPbkdf2 password 3 "quotes" & \'more\'',
      hash: '{pbkdf2}d1f9cf7e64576719f29d3850fd52328cb8fd74d0e9e8311d4d195252a1b1625dd617303a358779ee',
    },
    {
      madeBy: 'spring-security-crypto 6.3.4',
      password: 'an old springPbkdf2 password 4',
      hash: '{pbkdf2@SpringSecurity_v5_8}b46afafb448437bd2e3dfd62ad8317ff9119372c2b286795c48ab742896ac7465cb362fc933a6dd008c66dc52c96f046',
    },
    {
      madeBy: 'spring-security-crypto 6.3.4',
      password: 'an old springPbkdf2 password 5 – ünïcode ✓',
      hash: '{pbkdf2@SpringSecurity_v5_8}1da30094815b9ed70eddbf38736518a156cde3461e33b68287aadc728e1e197e233264903996575b8d0390dd395cbf21',
    },
    {
      madeBy: 'spring-security-crypto 6.3.4',
      password:
        'an old springPbkdf2 password 6 long long long long long long long long long long long long',
      hash: '{pbkdf2@SpringSecurity_v5_8}f9b46fe7924e0ced541650db4af9aed0af960d207d56bd6c981027b77a9ba6985d205559f2c960da747628f7b383b0e7',
    },
    {
      madeBy: 'spring-security-crypto 6.3.4',
      password: 'an old springPbkdf2 password 7 "quotes" & \'more\'',
      hash: '{pbkdf2@SpringSecurity_v5_8}bebe326b920e48e5d5b8a2975ba7b82c04113ec2be5f5c5554291785d06dd7cfafc288700a1c2e76527ed3e6cd9d1770',
    },
  ],
} as const satisfies Readonly<Record<string, readonly Vector[]>>
